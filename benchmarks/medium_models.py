"""The models of medium.py, written once for both libraries, like those of workloads.py: each function takes the module
(`tinytorch` or `torch`) and returns a `Run`. Images are 3 x 32 x 32, except for VGG and U-Net; the weights are random.
"""
import importlib.util
from functools import partial

import numpy as np
from workloads import Run, _images, _random


def _normed(nn, inputs, outputs, kernel=3, stride=1, groups=1, relu=None):
    """Convolution, batch norm and activation."""
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([relu()] if relu else []))


def _classifier(torch, model, batch, shape=(3, 32, 32)):
    return Run(torch, model, *_images(torch, batch, *shape),
               torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=5e-4))


def resnet18(torch, width=64, batch=16):
    """ResNet-18 as for CIFAR-10 (a first convolution of 3 x 3, no pooling), SGD with momentum."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.norm1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.norm2 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.shortcut = None
            if stride > 1 or inputs != outputs:
                self.shortcut = _normed(nn, inputs, outputs, 1, stride)

        def forward(self, x):
            y = self.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            y += x if self.shortcut is None else self.shortcut(x)
            return self.relu(y)
    layers, inputs = [_normed(nn, 3, width, relu=nn.ReLU)], width
    for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))
    return _classifier(torch, model, batch)


def mobilenet(torch, batch=16):
    """MobileNetV2 with strides as for CIFAR-10, SGD with momentum."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride, wider):
            super().__init__()
            hidden = inputs * wider
            self.layers = nn.Sequential(
                *([_normed(nn, inputs, hidden, 1, relu=nn.ReLU6)] if wider > 1 else []),
                _normed(nn, hidden, hidden, 3, stride, hidden, nn.ReLU6), _normed(nn, hidden, outputs, 1))
            self.added = stride == 1 and inputs == outputs

        def forward(self, x):
            return x + self.layers(x) if self.added else self.layers(x)
    layers, inputs = [_normed(nn, 3, 32, relu=nn.ReLU6)], 32
    for wider, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                          (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            layers.append(Block(inputs, outputs, 1 if i else stride, wider))
            inputs = outputs
    layers.append(_normed(nn, inputs, 1280, 1, relu=nn.ReLU6))
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, 10))
    return _classifier(torch, model, batch)


def vgg(torch, batch=8):
    """VGG-11 with batch norm, on images of 64 x 64, SGD with momentum."""
    nn = torch.nn
    layers, inputs = [], 3
    for outputs in (64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"):
        if outputs == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
            inputs = outputs
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 10))
    return _classifier(torch, model, batch, (3, 64, 64))


def unet(torch, batch=4, width=16):
    """U-Net of three levels, 16 to 128 channels, on images of 64 x 64, Adam."""
    nn = torch.nn

    def twice(inputs, outputs):
        return nn.Sequential(_normed(nn, inputs, outputs, relu=nn.ReLU), _normed(nn, outputs, outputs, relu=nn.ReLU))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [width, 2 * width, 4 * width, 8 * width]
            self.down = nn.ModuleList([twice(a, b) for a, b in zip([3, *widths], widths)])
            self.pool = nn.MaxPool2d(2)
            self.up = nn.ModuleList([nn.ConvTranspose2d(2 * n, n, 2, 2) for n in widths[-2::-1]])
            self.joined = nn.ModuleList([twice(2 * n, n) for n in widths[-2::-1]])
            self.out = nn.Conv2d(width, 10, 1)

        def forward(self, x):
            kept = []
            for i, layers in enumerate(self.down):
                x = layers(self.pool(x) if i else x)
                kept.append(x)
            for up, joined, other in zip(self.up, self.joined, kept[-2::-1]):
                x = joined(torch.cat([other, up(x)], 1))
            return self.out(x)
    random, model = _random(0), UNet()
    x = torch.from_numpy(random.rand(batch, 3, 64, 64).astype(np.float32))
    y = torch.from_numpy(random.randint(0, 10, (batch, 64, 64)))
    return Run(torch, model, x, y, torch.optim.Adam(model.parameters(), 1e-3))


def vit(torch, batch=16, width=192, heads=3, depth=6):
    """ViT: patches of 4 x 4, 6 layers of 192, 3 heads, AdamW."""
    nn, f = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            count, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).reshape(count, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = f.scaled_dot_product_attention(q, k, v)
            x = x + self.proj(y.transpose(1, 2).reshape(count, length, width))
            return x + self.down(f.gelu(self.up(self.norm2(x))))

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 4, 4)
            self.first = nn.Parameter(torch.zeros(1, 1, width))
            self.places = nn.Parameter(torch.randn(1, 65, width) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
            return self.head(self.norm(self.blocks(x))[:, 0])
    model = ViT()
    return Run(torch, model, *_images(torch, batch, 3, 32, 32), torch.optim.AdamW(model.parameters(), 1e-3))


def _language_model(torch, vocabulary, width, heads, depth, places):
    """GPT-2. If its forward gets a list of keys and values of earlier tokens, it also returns the list with those of
    the new tokens."""
    nn, f = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, before=None, kept=None):
            count, length, _ = x.shape
            q, k, v = (t.view(count, length, heads, width // heads).transpose(1, 2)
                       for t in self.qkv(self.norm1(x)).split(width, dim=2))
            if before is not None:
                k, v = torch.cat([before[0], k], 2), torch.cat([before[1], v], 2)
            if kept is not None:
                kept.append((k, v))
            y = f.scaled_dot_product_attention(q, k, v, is_causal=before is None)
            x = x + self.proj(y.transpose(1, 2).reshape(count, length, width))
            return x + self.down(f.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(places, width)
            self.blocks = nn.ModuleList([Block() for _ in range(depth)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.token.weight
            nn.init.normal_(self.token.weight, std=0.02)

        def forward(self, x, cache=None, kept=None):
            first = cache[0][0].shape[2] if cache else 0
            x = self.token(x) + self.place(torch.arange(first, first + x.shape[1]))
            for i, block in enumerate(self.blocks):
                x = block(x, cache[i] if cache else None, kept)
            return self.head(self.norm(x if kept is None else x[:, -1:])).flatten(0, 1)
    return GPT()


def _tokens(torch, vocabulary, batch, length):
    random = _random(0)
    return (torch.from_numpy(random.randint(0, vocabulary, (batch, length))),
            torch.from_numpy(random.randint(0, vocabulary, batch * length)))


def gpt(torch, vocabulary=5000, width=256, heads=8, depth=4, batch=8, length=128):
    """GPT: 4 layers of 256, 8 heads, 128 tokens, 5,000 words, AdamW."""
    model = _language_model(torch, vocabulary, width, heads, depth, length)
    return Run(torch, model, *_tokens(torch, vocabulary, batch, length), torch.optim.AdamW(model.parameters(), 3e-4))


def gpt2(torch, batch=1, length=64):
    """GPT-2 of 124 million parameters, one sequence, AdamW."""
    model = _language_model(torch, 50257, 768, 12, 12, 1024)
    return Run(torch, model, *_tokens(torch, 50257, batch, length), torch.optim.AdamW(model.parameters(), 3e-4))


class Generation:
    """GPT-2 with 124 million parameters continues 32 tokens by 20, and keeps the keys and values."""

    def __init__(self, torch, length=32, count=20):
        self.torch, self.count = torch, count
        self.model = _language_model(torch, 50257, 768, 12, 12, 1024).eval()
        self.prompt = _tokens(torch, 50257, 1, length)[0]

    def inference(self):
        torch, model, prompt, count = self.torch, self.model, self.prompt, self.count

        def generate():
            with torch.no_grad():
                x, cache = prompt, None
                for _ in range(count):
                    kept = []
                    x, cache = model(x, cache, kept).argmax(1, keepdim=True), kept
            return x
        return generate


def lstm_model(torch, vocabulary=5000, width=256, batch=16, length=64):
    """Language model: an embedding of 5,000 words, two layers of LSTM of 256, Adam, gradients clipped."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.cell = nn.LSTM(width, width, 2, dropout=0.2, batch_first=True)
            self.out = nn.Linear(width, vocabulary)

        def forward(self, x):
            return self.out(self.cell(self.words(x))[0]).flatten(0, 1)

    class Clipped(torch.optim.Adam):
        def step(self):
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            super().step()
    model = Model()
    return Run(torch, model, *_tokens(torch, vocabulary, batch, length), Clipped(model.parameters(), 1e-3))


_BERT = {"vocab_size": 30522, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
         "intermediate_size": 1024, "max_position_embeddings": 512}


def _own_bert(torch):
    nn = torch.nn
    width, heads = _BERT["hidden_size"], _BERT["num_attention_heads"]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(_BERT["vocab_size"], width), nn.Embedding(512, width)
            self.kinds, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.1, "gelu", batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, _BERT["num_hidden_layers"], enable_nested_tensor=False)
            self.pool, self.out = nn.Linear(width, width), nn.Linear(width, 2)

        def forward(self, x):
            y = self.words(x) + self.places(torch.arange(x.shape[1])) + self.kinds(torch.zeros_like(x))
            return self.out(torch.tanh(self.pool(self.encoder(self.norm(y))[:, 0])))
    return Model()


def _bert_of_transformers(torch):
    if torch.__name__ == "tinytorch":
        torch.install()
    from transformers import BertConfig, BertForSequenceClassification

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertForSequenceClassification(BertConfig(**_BERT))

        def forward(self, x):
            return self.bert(x).logits
    return Model()


def bert(torch, batch=8, length=64):
    """bert-mini, 4 layers of 256, 64 tokens, AdamW: that of transformers if it is installed, else a model of the same
    layers."""
    model = (_bert_of_transformers if importlib.util.find_spec("transformers") else _own_bert)(torch)
    x = torch.from_numpy(_random(0).randint(0, _BERT["vocab_size"], (batch, length)))
    y = torch.from_numpy(_random(1).randint(0, 2, batch))
    return Run(torch, model, x, y, torch.optim.AdamW(model.parameters(), 5e-5))


def mlp(torch, width=2048, batch=64):
    """MLP 784-2048-2048-10, batch 64, Adam."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    return Run(torch, model, *_images(torch, batch, 784), torch.optim.Adam(model.parameters(), 1e-3))


MODELS = {
    **{f"ResNet-18 w{width} b{batch}": partial(resnet18, width=width, batch=batch)
       for width in (32, 64) for batch in (1, 16)},
    "MobileNet b16": mobilenet, "VGG-11 b8": vgg, "U-Net b4": unet, "ViT b16": vit, "GPT d256": gpt,
    "GPT-2 124M, 64 tokens": gpt2, "GPT-2 124M, 128 tokens": partial(gpt2, length=128),
    "GPT-2 124M, generation": Generation, "LSTM language model": lstm_model, "bert-mini": bert, "MLP 2048": mlp}
#: Name -> function(torch) -> job, for steps of training and of inference.
WORKLOADS = {f"{name}, {kind}": lambda torch, build=build, kind=kind: getattr(build(torch), kind)()
             for name, build in MODELS.items() for kind in ("training", "inference")
             if hasattr(build, kind) or not isinstance(build, type)}
