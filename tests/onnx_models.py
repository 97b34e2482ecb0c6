"""Models that are exported as ONNX: each is made of the namespace that it is given, torch's or ours.

CASES  {name: Case}: `make(t)` gives the model, or a function, `inputs(t)` its inputs, `axes` for each of them
       {dimension: name} of the sizes that may change, `since` the first opset that has all operators
"""
from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One model, its inputs and their sizes that may change."""

    make: Callable
    inputs: Callable
    axes: Any = None
    since: int = 13


CASES: dict[str, Case] = {}
BATCH = ({0: "batch"},)
IMAGE = ({0: "batch", 2: "height", 3: "width"},)
STEPS = ({0: "batch", 1: "time"},)


def case(inputs, axes=None, since=13):
    """Enters a function that makes a model of a namespace."""
    def enter(make):
        CASES[make.__name__] = Case(make, inputs, axes, since)
        return make
    return enter


def shaped(*shapes):
    """Inputs of these shapes, of numbers between -1 and 1."""
    return lambda t: tuple([t.rand(*shape) * 2 - 1 for shape in shapes])


def numbers(high, *shapes):
    """Whole numbers below `high`, of these shapes."""
    return lambda t: tuple([t.randint(0, high, shape) for shape in shapes])


def module(t, forward, **parts):
    """A module with these parts, whose forward(self, ...) is the function."""
    class Model(t.nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)
    Model.forward = forward
    return Model()


# ------------------------------------------------------------------ of linear layers
@case(shaped((4, 6)), BATCH)
def mlp(t):
    nn = t.nn
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(-1))


@case(shaped((4, 6)), BATCH)
def mlp_of_many_activations(t):
    nn = t.nn
    kinds = [nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Mish(), nn.ELU(), nn.SELU(), nn.CELU(0.7), nn.Softplus(2, 3),
             nn.Hardswish(), nn.Hardsigmoid(), nn.LeakyReLU(0.1), nn.PReLU(), nn.Softsign(), nn.LogSigmoid(),
             nn.Hardtanh(), nn.ReLU6(inplace=True), nn.Hardshrink(0.1), nn.Softshrink(0.1), nn.Tanhshrink(),
             nn.Threshold(0.1, -1), nn.RReLU(), nn.SiLU(inplace=True), nn.Sigmoid()]
    return nn.Sequential(*[part for kind in kinds for part in (kind, nn.Linear(6, 6))])


@case(shaped((4, 6)), BATCH)
def mlp_with_norms(t):
    nn = t.nn
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.ReLU(inplace=True), nn.BatchNorm1d(8), nn.Dropout(0.3),
                         nn.Linear(8, 8, bias=False), nn.LayerNorm(8, elementwise_affine=False), nn.Linear(8, 2))


@case(shaped((2, 3, 6)), ({0: "batch", 1: "rows"},))
def residual_mlp(t):
    nn = t.nn

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.last(x).log_softmax(-1)
    layers = nn.ModuleList([nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)) for _ in range(3)])
    return module(t, forward, layers=layers, last=nn.Linear(6, 4))


@case(shaped((3, 2)), BATCH)
def siren(t):
    def forward(self, x):
        for layer in self.layers:
            x = t.sin(30 * layer(x))
        return self.last(x)
    return module(t, forward, layers=t.nn.ModuleList([t.nn.Linear(2, 8), t.nn.Linear(8, 8)]), last=t.nn.Linear(8, 1))


@case(shaped((3, 5)), BATCH)
def mixture_of_experts(t):
    def forward(self, x):
        share = self.gate(x).softmax(1)
        found = t.stack([expert(x) for expert in self.experts], 1)
        return (share.unsqueeze(-1) * found).sum(1), share.argmax(1)
    return module(t, forward, gate=t.nn.Linear(5, 3), experts=t.nn.ModuleList([t.nn.Linear(5, 4) for _ in range(3)]))


@case(lambda t: (t.rand(3, 4), t.randint(0, 7, (3, 2))), ({0: "batch"}, {0: "batch"}))
def wide_and_deep(t):
    def forward(self, numbers, kinds):
        deep = t.cat([numbers, self.embedding(kinds).flatten(1)], dim=1)
        return t.sigmoid(self.wide(numbers) + self.deep(deep)).squeeze(1)
    nn = t.nn
    return module(t, forward, embedding=nn.Embedding(7, 3), wide=nn.Linear(4, 1),
                  deep=nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 1)))


@case(shaped((3, 8)), BATCH)
def variational_autoencoder(t):
    nn = t.nn

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        deviation = t.exp(0.5 * log_variance)
        z = mean + t.randn_like(deviation) * deviation if self.training else mean
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
        return self.decoder(z), divergence
    return module(t, forward, encoder=nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4)),
                  decoder=nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 8), nn.Sigmoid()))


@case(shaped((3, 5), (3, 4)), ({0: "batch"}, {0: "batch"}))
def bilinear_layer(t):
    return t.nn.Bilinear(5, 4, 3)


@case(shaped((2, 4)), BATCH)
def weights_normed(t):
    norm = t.nn.utils.parametrizations.weight_norm
    return t.nn.Sequential(norm(t.nn.Linear(4, 5)), t.nn.ReLU(), norm(t.nn.Linear(5, 2)))


@case(shaped((2, 3)), BATCH)
def euler_steps(t):
    def forward(self, x):
        for _ in range(4):
            x = x + 0.25 * t.tanh(self.field(x))
        return x
    return module(t, forward, field=t.nn.Linear(3, 3))


# ------------------------------------------------------------------ of convolutions
@case(shaped((2, 1, 28, 28)), BATCH)
def lenet(t):
    nn = t.nn

    def forward(self, x):
        x = self.pool(t.relu(self.first(x)))
        x = self.pool(t.relu(self.second(x)))
        return t.nn.functional.log_softmax(self.last(x.view(x.size(0), -1)), dim=1)
    return module(t, forward, first=nn.Conv2d(1, 4, 5, padding=2), second=nn.Conv2d(4, 6, 5), pool=nn.MaxPool2d(2),
                  last=nn.Linear(150, 10))


@case(shaped((2, 3, 16)), ({0: "batch", 2: "length"},))
def dilated_conv1d(t):
    nn = t.nn
    return nn.Sequential(nn.Conv1d(3, 4, 3, padding="same", dilation=2), nn.ReLU(),
                         nn.Conv1d(4, 4, 3, stride=2, groups=2), nn.BatchNorm1d(4), nn.Conv1d(4, 2, 1),
                         nn.AdaptiveAvgPool1d(1), nn.Flatten())


@case(shaped((1, 2, 5, 6, 7)), BATCH)
def conv3d(t):
    nn = t.nn
    return nn.Sequential(nn.Conv3d(2, 3, 3, padding=1), nn.BatchNorm3d(3), nn.ReLU(), nn.MaxPool3d(2),
                         nn.ConvTranspose3d(3, 1, 2, stride=2))


@case(shaped((2, 3, 9, 8)), IMAGE)
def padding_modes(t):
    nn = t.nn
    return nn.Sequential(*[nn.Conv2d(3, 3, 3, padding=(1, 2), padding_mode=mode) for mode in (
        "zeros", "reflect", "replicate", "circular")], nn.ZeroPad2d((1, 0, 2, 1)), nn.ConstantPad2d(1, 0.5))


@case(shaped((2, 6, 1, 1)), BATCH)
def generator(t):
    nn = t.nn
    return nn.Sequential(nn.ConvTranspose2d(6, 8, 4), nn.BatchNorm2d(8), nn.ReLU(True),
                         nn.ConvTranspose2d(8, 4, 4, 2, 1, groups=2), nn.BatchNorm2d(4), nn.LeakyReLU(0.2, True),
                         nn.ConvTranspose2d(4, 1, 3, 2, 1, output_padding=1), nn.Tanh())


@case(shaped((2, 1, 8, 6)), IMAGE)
def super_resolution(t):
    nn = t.nn
    return nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3))


def block(t, width, out, stride=1):
    nn = t.nn

    def forward(self, x):
        return t.relu(self.path(x) + self.short(x))
    path = nn.Sequential(nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
                         nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
    short = nn.Identity() if stride == 1 and width == out else nn.Sequential(
        nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))
    return module(t, forward, path=path, short=short)


@case(shaped((2, 3, 32, 32)), IMAGE)
def resnet(t):
    nn = t.nn
    return nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
                         nn.MaxPool2d(3, 2, 1), block(t, 8, 8), block(t, 8, 16, 2), block(t, 16, 16),
                         nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(16, 5))


@case(shaped((2, 3, 32, 32)), IMAGE)
def resnet_of_bottlenecks(t):
    nn = t.nn

    def forward(self, x):
        out = self.relu(self.norm1(self.conv1(x)))
        out = self.relu(self.norm2(self.conv2(out)))
        out = self.norm3(self.conv3(out))
        out += x
        return self.relu(out)
    made = [module(t, forward, conv1=nn.Conv2d(16, 4, 1, bias=False), norm1=nn.BatchNorm2d(4),
                   conv2=nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False), norm2=nn.BatchNorm2d(4),
                   conv3=nn.Conv2d(4, 16, 1, bias=False), norm3=nn.BatchNorm2d(16), relu=nn.ReLU(inplace=True))
            for _ in range(2)]
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), *made)


def inverted(t, width, out, expansion, stride, activation, squeeze):
    nn = t.nn
    hidden = width * expansion

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        if squeeze:
            y = self.gate(self.squeeze(y)) * y
        y = self.project(y)
        return x + y if stride == 1 and width == out else y
    expand = nn.Sequential(nn.Conv2d(width, hidden, 1, bias=False), nn.BatchNorm2d(hidden), activation())
    depthwise = nn.Sequential(nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
                              nn.BatchNorm2d(hidden), activation())
    return module(t, forward, expand=expand, depthwise=depthwise, gate=nn.Hardsigmoid(inplace=True),
                  squeeze=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, 4, 1), nn.ReLU(),
                                        nn.Conv2d(4, hidden, 1)),
                  project=nn.Sequential(nn.Conv2d(hidden, out, 1, bias=False), nn.BatchNorm2d(out)))


@case(shaped((2, 3, 24, 24)), IMAGE)
def mobilenet_v2(t):
    nn = t.nn

    def relu6():
        return nn.ReLU6(inplace=True)
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), relu6(), inverted(t, 8, 8, 2, 1, relu6, False),
                         inverted(t, 8, 12, 2, 2, relu6, False), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Dropout(0.2), nn.Linear(12, 4))


@case(shaped((2, 3, 24, 24)), IMAGE)
def mobilenet_v3(t):
    nn = t.nn

    def swish():
        return nn.Hardswish(inplace=True)
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), swish(), inverted(t, 8, 8, 2, 1, swish, True),
                         inverted(t, 8, 12, 2, 2, swish, True), nn.AdaptiveAvgPool2d(1), nn.Flatten(1),
                         nn.Linear(12, 4))


@case(shaped((2, 3, 24, 24)), IMAGE)
def efficientnet(t):
    nn = t.nn

    def silu():
        return nn.SiLU(inplace=True)
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), silu(), inverted(t, 8, 8, 2, 1, silu, True),
                         inverted(t, 8, 12, 2, 2, silu, True))


@case(shaped((2, 3, 32, 32)), BATCH)
def vgg(t):
    nn = t.nn
    layers, width = [], 3
    for out in (4, 8, 8):
        layers += [nn.Conv2d(width, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2)]
        width = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d((3, 3)), nn.Flatten(), nn.Linear(72, 16), nn.ReLU(True),
                         nn.Dropout(), nn.Linear(16, 5))


@case(shaped((2, 3, 20, 20)), IMAGE)
def squeezenet(t):
    nn = t.nn

    def forward(self, x):
        x = self.squeeze(x).relu()
        return t.cat([self.one(x).relu(), self.three(x).relu()], 1)
    made = [module(t, forward, squeeze=nn.Conv2d(8, 4, 1), one=nn.Conv2d(4, 4, 1), three=nn.Conv2d(4, 4, 3, padding=1))
            for _ in range(2)]
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), *made, nn.Conv2d(8, 3, 1), nn.AdaptiveAvgPool2d((1, 1)),
                         nn.Flatten())


@case(shaped((2, 4, 12, 12)), IMAGE)
def densenet(t):
    nn = t.nn

    def forward(self, x):
        found = [x]
        for layer in self.layers:
            found.append(layer(t.cat(found, 1)))
        return self.down(t.cat(found, 1))
    layers = nn.ModuleList([nn.Sequential(nn.BatchNorm2d(4 + 3 * i), nn.ReLU(), nn.Conv2d(4 + 3 * i, 3, 3, padding=1))
                            for i in range(3)])
    return module(t, forward, layers=layers, down=nn.Sequential(nn.Conv2d(13, 4, 1), nn.AvgPool2d(2, 2)))


@case(shaped((2, 4, 12, 12)), IMAGE)
def inception(t):
    nn = t.nn

    def forward(self, x):
        pooled = t.nn.functional.avg_pool2d(x, 3, stride=1, padding=1)
        return t.cat([self.one(x), self.rows(self.columns(x)), self.last(pooled)], 1)
    return module(t, forward, one=nn.Conv2d(4, 3, 1), columns=nn.Conv2d(4, 3, (1, 7), padding=(0, 3)),
                  rows=nn.Conv2d(3, 2, (7, 1), padding=(3, 0)), last=nn.Conv2d(4, 2, 1))


@case(shaped((2, 8, 10, 10)), IMAGE)
def shufflenet(t):
    nn = t.nn

    def forward(self, x):
        one, two = x.chunk(2, dim=1)
        y = t.cat((one, self.path(two)), dim=1)
        n, channels, height, width = y.size()
        return y.view(n, 2, channels // 2, height, width).transpose(1, 2).contiguous().view(n, channels, height, width)
    return nn.Sequential(*[module(t, forward, path=nn.Sequential(
        nn.Conv2d(4, 4, 1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1, groups=4), nn.BatchNorm2d(4))) for _ in range(2)],
        nn.ChannelShuffle(2))


@case(shaped((2, 3, 16, 16)), IMAGE)
def convnext(t):
    nn = t.nn

    def forward(self, x):
        y = self.deep(x).permute(0, 2, 3, 1)
        y = self.out(self.act(self.into(self.norm(y))))
        return x + (self.scale * y).permute(0, 3, 1, 2)
    return nn.Sequential(nn.Conv2d(3, 6, 4, 4), module(
        t, forward, deep=nn.Conv2d(6, 6, 7, padding=3, groups=6), norm=nn.LayerNorm(6), into=nn.Linear(6, 12),
        act=nn.GELU(), out=nn.Linear(12, 6), scale=nn.Parameter(t.full((6,), 0.3))))


@case(shaped((2, 3, 16, 16)), BATCH)
def vision_transformer(t):
    nn = t.nn

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = t.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.encoder(x)[:, 0])
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True, norm_first=True)
    return module(t, forward, patches=nn.Conv2d(3, 8, 4, 4), token=nn.Parameter(t.zeros(1, 1, 8)),
                  places=nn.Parameter(t.rand(1, 17, 8)),
                  encoder=nn.TransformerEncoder(layer, 2, nn.LayerNorm(8), enable_nested_tensor=False),
                  head=nn.Linear(8, 5))


@case(shaped((2, 8, 8, 4)), BATCH)
def shifted_windows(t):
    nn = t.nn

    def forward(self, x):
        n, height, width, channels = x.shape
        y = t.roll(x, shifts=(-2, -2), dims=(1, 2))
        y = y.view(n, height // 4, 4, width // 4, 4, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
        query, key, value = self.into(y).reshape(-1, 16, 3, 2, 2).permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-2, -1) * 2 ** -0.5 + self.bias[self.places].permute(2, 0, 1)).softmax(-1)
        y = self.out((weights @ value).transpose(1, 2).reshape(-1, 16, channels))
        y = y.view(n, height // 4, width // 4, 4, 4, channels).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)
        return x + t.roll(y, shifts=(2, 2), dims=(1, 2))
    made = module(t, forward, into=nn.Linear(4, 12), out=nn.Linear(4, 4), bias=nn.Parameter(t.rand(49, 2)))
    at = t.arange(16)
    rows, columns = at // 4, at % 4
    made.register_buffer("places", (rows[:, None] - rows + 3) * 7 + columns[:, None] - columns + 3)
    return made


def double(t, width, out):
    nn = t.nn
    return nn.Sequential(nn.Conv2d(width, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
                         nn.Conv2d(out, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True))


@case(shaped((2, 3, 16, 16)), IMAGE)
def unet(t):
    nn = t.nn

    def forward(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        deep = self.deep(self.pool(second))
        up = self.last(t.cat([self.up2(deep), second], 1))
        return self.out(t.cat([self.up1(up), first], 1))
    return module(t, forward, first=double(t, 3, 4), second=double(t, 4, 8), deep=double(t, 8, 8), pool=nn.MaxPool2d(2),
                  up2=nn.ConvTranspose2d(8, 8, 2, 2), last=double(t, 16, 8), up1=nn.ConvTranspose2d(8, 4, 2, 2),
                  out=nn.Conv2d(8, 2, 1))


@case(shaped((2, 3, 12, 12)), BATCH)
def unet_of_resizing(t):
    F = t.nn.functional

    def forward(self, x):
        first = self.first(x)
        up = F.interpolate(self.deep(F.max_pool2d(first, 2)), scale_factor=2, mode="bilinear", align_corners=True)
        up = F.pad(up, (1, 1, 0, 2))
        return self.last(t.cat([F.pad(first, (1, 1, 0, 2)), up], 1))
    return module(t, forward, first=double(t, 3, 4), deep=double(t, 4, 4), last=double(t, 8, 2))


@case(shaped((2, 3, 16, 16)), IMAGE)
def feature_pyramid(t):
    nn, F = t.nn, t.nn.functional

    def forward(self, x):
        one = self.one(x)
        two = self.two(one)
        up = F.interpolate(self.deep(two), size=one.shape[-2:], mode="nearest")
        return self.flat(one) + up, two
    return module(t, forward, one=nn.Conv2d(3, 4, 3, 2, 1), two=nn.Conv2d(4, 6, 3, 2, 1), deep=nn.Conv2d(6, 4, 1),
                  flat=nn.Conv2d(4, 4, 1))


@case(shaped((2, 4, 9, 9)), IMAGE)
def pooled_pyramid(t):
    nn, F = t.nn, t.nn.functional

    def forward(self, x):
        height, width = x.shape[2:]
        found = [conv(x) for conv in self.rates]
        whole = F.interpolate(self.whole(x), size=(height, width), mode="bilinear", align_corners=False)
        return self.out(t.cat([*found, whole], 1))
    rates = nn.ModuleList([nn.Conv2d(4, 3, 3, padding=r, dilation=r) for r in (1, 2, 4)])
    return module(t, forward, rates=rates, whole=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 3, 1)),
                  out=nn.Conv2d(12, 2, 1))


# ------------------------------------------------------------------ norms, pools, sizes
@case(shaped((2, 6, 5, 4)), IMAGE)
def group_norms(t):
    nn = t.nn
    return nn.Sequential(nn.GroupNorm(3, 6), nn.ReLU(), nn.GroupNorm(2, 6, affine=False), nn.GroupNorm(6, 6, eps=1e-3))


@case(shaped((2, 6, 5, 4)), IMAGE)
def instance_norms(t):
    nn = t.nn
    return nn.Sequential(nn.InstanceNorm2d(6), nn.ReLU(), nn.InstanceNorm2d(6, affine=True, track_running_stats=True))


@case(shaped((2, 6, 5, 4)), BATCH)
def other_norms(t):
    nn = t.nn
    return nn.Sequential(nn.LocalResponseNorm(3, 0.01), nn.BatchNorm2d(6, track_running_stats=False),
                         nn.LayerNorm([5, 4], bias=False), nn.RMSNorm(4), nn.BatchNorm2d(6, affine=False),
                         nn.LayerNorm([6, 5, 4]))


@case(shaped((2, 3, 11, 10)), BATCH)
def pools(t):
    F = t.nn.functional

    def run(x):
        return (F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool2d(x, 2, 1, dilation=2),
                F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
                F.avg_pool2d(x, (2, 3), divisor_override=5), F.adaptive_avg_pool2d(x, (3, 4)),
                F.adaptive_avg_pool2d(x, (None, 1)), F.adaptive_max_pool2d(x, (4, 3)),
                F.max_pool2d(x, 2, return_indices=True), F.max_pool1d(x[0], 3), F.avg_pool1d(x[:, 0], 2))
    return run


@case(shaped((2, 3, 6, 5)), BATCH)
def resizings(t):
    F = t.nn.functional

    def run(x):
        return (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(9, 4)),
                F.interpolate(x, (9, 11), mode="bilinear"),
                F.interpolate(x, (3, 8), mode="bilinear", align_corners=True),
                F.interpolate(x, scale_factor=(1.5, 2.4), mode="bicubic"), F.interpolate(x[0], 7, mode="linear"),
                F.interpolate(x[None], (4, 9, 7), mode="trilinear"), F.interpolate(x, (2, 3), mode="area"),
                t.nn.UpsamplingBilinear2d(scale_factor=2)(x))
    return run


@case(shaped((2, 1, 8, 8)), BATCH, since=16)
def spatial_transformer(t):
    nn, F = t.nn, t.nn.functional

    def forward(self, x):
        theta = self.where(x.flatten(1)).view(-1, 2, 3)
        grid = F.affine_grid(theta, [theta.shape[0], 1, 8, 8], align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)
    return module(t, forward, where=nn.Linear(64, 6))


@case(shaped((2, 3, 7, 6)), BATCH, since=18)
def columns(t):
    F = t.nn.functional

    def run(x):
        found = F.unfold(x, (3, 2), padding=1, stride=2)
        return found, F.fold(found, (7, 6), (3, 2), padding=1, stride=2), F.pixel_unshuffle(x[:, :, :6], 2)
    return run


# ------------------------------------------------------------------ recurrent
@case(shaped((2, 5, 3)), STEPS)
def rnn_tanh(t):
    return t.nn.RNN(3, 4, 2, batch_first=True)


@case(shaped((5, 2, 3)), ({0: "time", 1: "batch"},))
def rnn_relu(t):
    return t.nn.RNN(3, 4, nonlinearity="relu", bidirectional=True, bias=False)


@case(shaped((2, 5, 3)), STEPS)
def gru(t):
    return t.nn.GRU(3, 4, 2, batch_first=True, bidirectional=True)


@case(shaped((5, 2, 3), (2, 2, 4), (2, 2, 4)), ({0: "time", 1: "batch"}, {1: "batch"}, {1: "batch"}))
def lstm_with_states(t):
    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return y, h, c
    return module(t, forward, lstm=t.nn.LSTM(3, 4, 2, dropout=0.3))


@case(numbers(9, (2, 6)), STEPS)
def lstm_tagger(t):
    nn = t.nn

    def forward(self, words):
        y, (h, _) = self.lstm(self.embedding(words))
        return self.out(y).log_softmax(-1), t.cat([h[-2], h[-1]], 1)
    return module(t, forward, embedding=nn.Embedding(9, 4, padding_idx=0),
                  lstm=nn.LSTM(4, 5, batch_first=True, bidirectional=True), out=nn.Linear(10, 3))


@case(shaped((2, 4, 3)), BATCH)
def cells(t):
    nn = t.nn

    def forward(self, x):
        h, g, c = [x.new_zeros(x.size(0), 5) for _ in range(3)]
        for step in x.unbind(1):
            h, c = self.lstm(step, (h, c))
            g = self.gru(h, self.rnn(step, g))
        return h, g
    return module(t, forward, lstm=nn.LSTMCell(3, 5), gru=nn.GRUCell(5, 5), rnn=nn.RNNCell(3, 5))


@case(numbers(9, (2, 6)), STEPS)
def gru_with_attention(t):
    nn = t.nn

    def forward(self, words):
        states, last = self.gru(self.embedding(words))
        scores = t.bmm(states, last[0].unsqueeze(2)).squeeze(2)
        scores = scores.masked_fill(words == 0, float("-inf"))
        return self.out(t.bmm(scores.softmax(1).unsqueeze(1), states).squeeze(1))
    return module(t, forward, embedding=nn.Embedding(9, 4), gru=nn.GRU(4, 4, batch_first=True), out=nn.Linear(4, 2))


# ------------------------------------------------------------------ attention
@case(shaped((2, 5, 8)), STEPS)
def encoder_layer(t):
    return t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)


@case(lambda t: (t.rand(5, 2, 8), t.zeros(5, 5).masked_fill(t.ones(5, 5).triu(1).bool(), float("-inf")),
                 t.tensor([[False] * 5, [False] * 3 + [True] * 2])))
def encoder_with_masks(t):
    nn = t.nn

    def forward(self, x, mask, padding):
        return self.encoder(x, mask, padding.float().masked_fill(padding, float("-inf")), is_causal=False)
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, activation="gelu")
    return module(t, forward, encoder=nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))


@case(shaped((2, 4, 8), (2, 6, 8)), ({0: "batch", 1: "target"}, {0: "batch", 1: "source"}))
def decoder_layer(t):
    return t.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)


@case(shaped((2, 6, 8), (2, 4, 8)), ({0: "batch", 1: "source"}, {0: "batch", 1: "target"}))
def transformer(t):
    return t.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)


@case(shaped((2, 4, 8), (2, 6, 6), (2, 6, 5)), ({0: "batch", 1: "target"}, {0: "batch", 1: "source"},
                                                {0: "batch", 1: "source"}))
def cross_attention(t):
    return t.nn.MultiheadAttention(8, 2, kdim=6, vdim=5, batch_first=True)


@case(numbers(11, (2, 7)), STEPS)
def gpt(t):
    nn, F = t.nn, t.nn.functional

    def forward(self, words):
        n, time = words.shape
        x = self.words(words) + self.places(t.arange(time))
        query, key, value = [y.view(n, time, 2, 4).transpose(1, 2) for y in self.into(self.first(x)).split(8, dim=2)]
        x = x + self.out(F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).reshape(
            n, time, 8))
        return (x + self.layers(self.second(x))) @ self.words.weight.T
    return module(t, forward, words=nn.Embedding(11, 8), places=nn.Embedding(32, 8), into=nn.Linear(8, 24),
                  out=nn.Linear(8, 8), first=nn.LayerNorm(8), second=nn.LayerNorm(8),
                  layers=nn.Sequential(nn.Linear(8, 16), nn.GELU("tanh"), nn.Linear(16, 8)))


@case(shaped((2, 6, 8)), STEPS)
def rotary_attention(t):
    nn = t.nn

    def turned(x, angles):
        cos, sin = angles.cos(), angles.sin()
        first, second = x[..., ::2], x[..., 1::2]
        return t.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2)

    def forward(self, x):
        n, time, width = x.shape
        angles = t.outer(t.arange(time, dtype=t.float32), self.speeds)
        query, key, value = [layer(x).reshape(n, time, 2, 4).transpose(1, 2) for layer in (self.q, self.k, self.v)]
        weights = turned(query, angles) @ turned(key, angles).mT / 2
        unseen = t.triu(t.ones(time, time, dtype=t.bool), diagonal=1)
        weights = weights.masked_fill(unseen, float("-inf")).softmax(-1)
        return (weights @ value).transpose(1, 2).reshape(n, time, width)
    made = module(t, forward, q=nn.Linear(8, 8), k=nn.Linear(8, 8), v=nn.Linear(8, 8))
    made.register_buffer("speeds", 1.0 / 100 ** (t.arange(2) / 2))
    return made


@case(lambda t: (t.rand(2, 4, 3, 8), t.rand(2, 2, 5, 8), t.rand(2, 2, 5, 8), t.rand(3, 5) > 0.3), (
    {0: "batch"}, {0: "batch"}, {0: "batch"}, None))
def grouped_attention(t):
    def run(query, key, value, mask):
        return t.nn.functional.scaled_dot_product_attention(query, key, value, mask, enable_gqa=True, scale=0.5)
    return run


@case(shaped((2, 6, 4)), STEPS)
def linear_attention(t):
    def forward(self, x):
        query, key = [t.nn.functional.elu(layer(x)) + 1 for layer in (self.q, self.k)]
        whole = t.einsum("btd,bte->bde", key, x)
        return t.einsum("btd,bde->bte", query, whole) / (query @ key.sum(1).unsqueeze(-1))
    return module(t, forward, q=t.nn.Linear(4, 4), k=t.nn.Linear(4, 4))


# ------------------------------------------------------------------ words
@case(numbers(12, (2, 20)), STEPS)
def text_cnn(t):
    nn = t.nn

    def forward(self, words):
        x = self.embedding(words).transpose(1, 2)
        found = [t.relu(conv(x)).max(dim=2)[0] for conv in self.convs]
        return self.out(self.dropout(t.cat(found, 1)))
    return module(t, forward, embedding=nn.Embedding(12, 6), dropout=nn.Dropout(0.5), out=nn.Linear(12, 2),
                  convs=nn.ModuleList([nn.Conv1d(6, 4, k) for k in (3, 4, 5)]))


@case(lambda t: (t.randint(1, 9, (10,)), t.tensor([0, 3, 3, 7])), ({0: "words"}, None))
def bags(t):
    nn = t.nn

    def forward(self, words, begins):
        return t.cat([self.mean(words, begins), self.sum(words, begins), self.max(words, begins)], 1)
    return module(t, forward, mean=nn.EmbeddingBag(9, 3), sum=nn.EmbeddingBag(9, 2, mode="sum", padding_idx=2),
                  max=nn.EmbeddingBag(9, 2, mode="max"))


@case(numbers(9, (3, 5)), STEPS)
def fast_text(t):
    return t.nn.Sequential(t.nn.EmbeddingBag(9, 6), t.nn.Linear(6, 3))


# ------------------------------------------------------------------ places and numbers
@case(shaped((4, 5, 3)), BATCH)
def slices(t):
    def run(x):
        return (x[1], x[:, -1], x[..., 0], x[1:, 2:4], x[:, ::2], x[:, None, 1], x[..., :-1].sum(-1), x.narrow(1, 1, 2),
                x.select(2, -1), x.flip(1), x.roll(1, 2), t.cat(x.split(2, 1), 1), x.unbind(2)[1], x.chunk(3, 1)[2],
                x.movedim(0, -1), x.diagonal(0, 1, 2), x.unfold(1, 3, 1), t.tile(x, (1, 2, 1)),
                x.repeat_interleave(2, 1), x.unsqueeze(0).squeeze())
    return run


@case(lambda t: (t.rand(4, 5), t.tensor([[0, 2], [1, -1]]), t.tensor([3, 0, 1])), ({0: "batch"}, None, None))
def indices(t):
    def run(x, pairs, rows):
        return (x[rows], x[:, rows], x[pairs], x[pairs[0], pairs[1]], x[[0, 2]], x.index_select(1, rows),
                x[rows[:2], 1], x.gather(1, pairs.abs().repeat(2, 1)), t.take(x, rows),
                t.take_along_dim(x, x.argsort(1), 1))
    return run


@case(lambda t: (t.rand(4, 5), t.tensor([3, 0, 1]), t.rand(3, 5)), None, since=16)
def writes(t):
    def run(x, rows, new):
        a, b, c = x.clone(), x.clone(), x.clone()
        a[:, 1] = 0
        a[1:3, 2:] += 1
        a[rows] = new
        a[a > 0.9] = -1
        part = b[1:].t()
        part.add_(1)
        part[0].mul_(2)
        b.view(-1)[::3] = 7
        b[..., -1].fill_(3).sub_(1)
        c.index_add_(0, rows, new)
        c.scatter_(1, rows[:, None], 5.0)
        c[:2].clamp_(min=0.2)
        c.diagonal().zero_()
        return a, b, part, c, x.scatter_add(0, rows[:, None].expand(-1, 5), new), x.index_fill(0, rows, 2.0)
    return run


@case(shaped((3, 4, 5)), BATCH)
def masks(t):
    def run(x):
        positive = x > 0
        return (x[positive], x.masked_fill(positive, 9), t.where(positive, x, -x), x.masked_select(x < 0),
                (positive & ~(x > 0.5) | (x < -0.5)).sum(), positive.nonzero(), positive.any(1), positive.all(-1))
    return run


@case(shaped((3, 4, 5)), BATCH)
def reductions(t):
    def run(x):
        return (x.sum(), x.mean((1, 2)), x.amax(1), x.amin((0, 2), keepdim=True), x.max(2), x.min(1, keepdim=True),
                x.argmax(1), x.argmin(), x.var(1), x.std((1, 2), unbiased=False), x.norm(dim=1), x.norm(1, 2),
                x.prod(2), x.logsumexp(1), x.cumsum(1), x.cumprod(2), x.median(1)[0], x.topk(2, 1), x.sort(2, True)[0],
                t.var_mean(x, 2), x.square().sum(-1).sqrt(), t.linalg.vector_norm(x, 3, dim=1), (x > 0).sum(1),
                x.count_nonzero(1), t.logcumsumexp(x, 2))
    return run


@case(shaped((3, 4)), BATCH)
def arithmetic(t):
    def run(x):
        whole = (x * 10).long()
        return (x + 1, 2 - x, x / 3, 1 / (x + 2), x ** 2, 2 ** x, (x + 1) ** 0.5, x // 0.3, x % 0.3, whole // 3,
                whole % 3, whole / 2, x.abs().log1p(), x.expm1(), x.clamp(-0.5, 0.5), x.round(), x.trunc(), x.frac(),
                x.sign(),
                t.atan2(x, x.flip(1)), t.lerp(x, x + 1, 0.3), x.erf(), (x * 0.9).atanh(), t.fmod(x, 0.3),
                whole.float() * x, t.maximum(x, -x), x.minimum(t.tensor(0.1)), t.addcmul(x, x, x, value=0.5),
                t.hypot(x, x), x.sinc(),
                t.nan_to_num(x / 0), t.logaddexp(x, -x), whole == 3, x.isfinite(), whole.bool().logical_xor(x > 0),
                t.special.xlogy(x, x + 2), x.rsqrt().isnan(), x.deg2rad(), t.floor_divide(whole, -4), -whole)
    return run


@case(shaped((4, 3), (5, 3)), ({0: "a"}, {0: "b"}))
def distances(t):
    F = t.nn.functional

    def run(a, b):
        return (t.cdist(a, b), t.cdist(a, b, 1.0), F.cosine_similarity(a[:, None], b, dim=-1), F.normalize(a), a @ b.mT,
                F.pairwise_distance(a[:, None], b[None]), t.outer(a[:, 0], b[:, 1]), t.kron(a, b),
                t.tensordot(a, b, ([1], [1])), t.addmm(a @ b.T, a, b.T, alpha=0.5))
    return run


@case(lambda t: (t.rand(6, 4), t.tensor([[0, 1, 2, 5, 3], [1, 2, 0, 4, 5]])), ({0: "nodes"}, {1: "edges"}), since=16)
def graph_network(t):
    def forward(self, x, edges):
        source, target = edges
        found = t.zeros_like(x).index_add_(0, target, self.message(x[source]))
        degree = t.zeros(x.size(0)).scatter_add_(0, target, t.ones(target.size(0))).clamp(min=1)
        return t.relu(self.own(x) + found / degree[:, None])
    return module(t, forward, message=t.nn.Linear(4, 4), own=t.nn.Linear(4, 4))


@case(lambda t: (t.rand(4, 5), t.tensor([1, 0, 4, 2]), t.rand(4, 5)), ({0: "batch"}, {0: "batch"}, {0: "batch"}))
def losses(t):
    F = t.nn.functional

    def run(x, target, y):
        return (F.cross_entropy(x, target), F.cross_entropy(x, target, reduction="none"),
                F.nll_loss(x.log_softmax(1), target, reduction="sum"), F.mse_loss(x, y),
                F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y), F.huber_loss(x, y, delta=0.3),
                F.binary_cross_entropy_with_logits(x, y),
                F.binary_cross_entropy(x.sigmoid(), y), F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"))
    return run


@case(lambda t: (t.rand(2, 3), t.tensor(3)), ({0: "batch"}, None))
def made_tensors(t):
    def run(x, n):
        size = x.size(0)
        return (t.zeros(size, 2), t.full((size, 3), 0.5) + x, t.ones_like(x) * n, t.arange(size * 2), t.eye(3),
                x.new_full((2, size), 7), t.linspace(0, 1, 5), t.arange(1, 7, 2), t.tril(t.ones(4, 4)),
                t.meshgrid(t.arange(size), t.arange(3), indexing="ij"), t.nn.functional.one_hot(t.arange(3), 4),
                t.diag(x[0]), t.diag_embed(x), t.broadcast_tensors(x, t.arange(3)), x.half().float(), x.int(),
                t.bucketize(x, t.tensor([0.2, 0.5, 0.7])))
    return run


@case(lambda t: (t.rand(2, 3), [t.rand(2, 1), (t.rand(3),)]))
def nested_inputs(t):
    def run(x, more):
        y, (z,) = more
        return {"sum": x + y, "pair": (x * z, z)}
    return run


# ------------------------------------------------------------------ as libraries write them
@case(shaped((2, 12, 4)), STEPS)
def relative_places(t):
    def forward(self, x):
        n = x.shape[1]
        apart = t.arange(n)[None, :] - t.arange(n)[:, None]
        found = (apart > 0).to(t.long) * 8
        apart = t.abs(apart)
        far = 4 + (t.log(apart.float() / 4) / 3.5 * 4).to(t.long)
        found += t.where(apart < 4, apart, t.min(far, t.full_like(far, 7)))
        return self.bias(found).permute(2, 0, 1).unsqueeze(0) + (x @ x.transpose(1, 2))[:, None]
    return module(t, forward, bias=t.nn.Embedding(16, 2))


@case(shaped((2, 3, 4), (2, 6, 4)), ({0: "batch", 1: "time"}, {0: "batch", 1: "past"}))
def cached_keys(t):
    def run(x, past):
        keys = t.cat([past, x], 1)
        places = t.arange(past.shape[1], keys.shape[1])
        seen = t.full((x.shape[1], keys.shape[1]), t.finfo(x.dtype).min)
        seen.masked_fill_(t.arange(keys.shape[1]) <= places[:, None], 0)
        places = places.unsqueeze(0).expand(x.shape[0], -1)
        return (x @ keys.mT + seen).softmax(-1) @ keys, places, keys[:, -x.shape[1]:]
    return run


@case(lambda t: (t.rand(2, 5, 4), t.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])), (*STEPS, *STEPS))
def sentence_mean(t):
    def run(states, mask):
        wide = mask.unsqueeze(-1).expand(states.size()).float()
        hidden = (1.0 - mask[:, None, None, :].to(states.dtype)) * t.finfo(states.dtype).min
        return t.sum(states * wide, 1) / t.clamp(wide.sum(1), min=1e-9), hidden
    return run


@case(shaped((2, 15, 4, 6)), IMAGE)
def detection_head(t):
    def run(x):
        n, _, height, width = x.shape
        rows, columns = t.meshgrid(t.arange(height), t.arange(width), indexing="ij")
        grid = t.stack((columns, rows), 2).view(1, 1, height, width, 2).float()
        y = x.view(n, 3, 5, height, width).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2
        return y.view(n, -1, 5)
    return run


@case(shaped((2, 5, 6)), ({0: "batch", 2: "time"},))
def gated_convolutions(t):
    nn = t.nn
    return nn.Sequential(nn.Conv1d(5, 8, 3, padding=1), nn.GLU(1), nn.BatchNorm1d(4), nn.AvgPool1d(2),
                         nn.Upsample(scale_factor=2), nn.InstanceNorm1d(4, affine=True))


@case(shaped((4, 5)), BATCH)
def sampled_logits(t):
    def run(x):
        values, _ = t.topk(x, 2)
        y = x.clone()
        y[y < values[:, [-1]]] = -float("inf")
        ordered, places = x.sort(1, descending=True)
        tail = ordered.softmax(1).cumsum(1) > 0.8
        return y.softmax(-1), x.masked_fill(tail.scatter(1, places, tail), 0.0), (x - x.mean()) / x.std()
    return run
