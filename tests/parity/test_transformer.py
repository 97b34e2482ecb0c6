"""Attention layers and the Transformer beside torch: settings and masks, inference, warnings, errors, a training."""
import warnings

import pytest

from .adapter import same_outcome

HIDDEN = [[False, False, False, True], [False, True, True, True], [False, False, False, False]]
GAPS = [[True, False, False, True], [False, False, True, False], [False, False, False, False]]
ALL = [[True] * 4, [False, True, True, True], [False, False, False, False]]


def tensors(t, *shapes, dtype="float32"):
    t.manual_seed(7)
    return [t.randn(shape).to(getattr(t, dtype)).requires_grad_() for shape in shapes]


def parts(layer, outputs, inputs, t):
    """The outputs, and the gradients of inputs and parameters."""
    outputs = [y for y in outputs if y is not None]
    loss = sum([(y.float() ** 2).sum() for y in outputs])
    return outputs, t.autograd.grad(loss, [*inputs, *layer.parameters()], allow_unused=True)


# ------------------------------------------------------------------ several heads
ATTENTIONS = {
    "plain": {}, "without biases": {"bias": False}, "learned key": {"add_bias_kv": True},
    "zero key": {"add_zero_attn": True}, "batch first": {"batch_first": True}, "both": {"add_bias_kv": True,
                                                                                       "add_zero_attn": True},
    "dropout": {"dropout": 0.5}, "float64": {"dtype": "float64"}, "bfloat16": {"dtype": "bfloat16"}}
CALLS = {
    "": lambda t: {}, "no weights": lambda t: {"need_weights": False},
    "each head": lambda t: {"average_attn_weights": False},
    "padded": lambda t: {"key_padding_mask": t.tensor(HIDDEN)},
    "causal": lambda t: {"attn_mask": t.ones(4, 4).triu(1).bool(), "is_causal": True, "need_weights": False},
    "numbers": lambda t: {"attn_mask": t.arange(6 * 16).reshape(6, 4, 4) / 40}}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("made", ATTENTIONS)
def test_attention(made, call):
    def program(t):
        settings = {name: getattr(t, v) if name == "dtype" else v for name, v in ATTENTIONS[made].items()}
        t.manual_seed(1)
        layer = t.nn.MultiheadAttention(8, 2, **settings)
        shape = (3, 4, 8) if layer.batch_first else (4, 3, 8)
        x, = tensors(t, shape, dtype=ATTENTIONS[made].get("dtype", "float32"))
        given = CALLS[call](t)
        if "attn_mask" in given and given["attn_mask"].is_floating_point():
            given["attn_mask"] = given["attn_mask"].to(x.dtype)
        outputs = layer(x, x, x, **given)
        return list(layer.state_dict().items()), repr(layer), outputs[0].stride(), parts(layer, outputs, [x], t)
    same_outcome(program, **({"tolerance": 3e-2} if made == "bfloat16" else {}))


@pytest.mark.parametrize("batch_first", [False, True])
def test_other_keys_and_values(batch_first):
    def program(t):
        t.manual_seed(1)
        layer = t.nn.MultiheadAttention(8, 4, kdim=5, vdim=6, batch_first=batch_first)
        inputs = tensors(t, (3, 4, 8), *([(3, 2, 5), (3, 2, 6)] if batch_first else [(2, 4, 5), (2, 4, 6)]))
        outputs = layer(*inputs)
        same = t.nn.MultiheadAttention(5, 5, batch_first=batch_first)
        return list(layer.state_dict().items()), parts(layer, outputs, inputs, t), same(inputs[1], inputs[1][:, :3],
                                                                                        inputs[1][:, :3])
    same_outcome(program)


@pytest.mark.parametrize("masks", [
    lambda t: {}, lambda t: {"attn_mask": t.ones(4, 4).triu(1).bool()}, lambda t: {"key_padding_mask": t.tensor(ALL)},
    lambda t: {"attn_mask": t.tensor(ALL + [[False] * 4]), "key_padding_mask": t.tensor(HIDDEN)},
    lambda t: {"attn_mask": t.tensor(ALL + [[True] * 4]), "need_weights": False},
    lambda t: {"attn_mask": t.zeros(6, 4, 4).bool(), "is_causal": True, "average_attn_weights": False},
    lambda t: {"attn_mask": t.ones(4, 4).triu(1)}, lambda t: {"key_padding_mask": t.zeros(2, 4).bool()},
    lambda t: {"attn_mask": t.zeros(5, 4).bool()}, lambda t: {"is_causal": True}])
def test_attention_at_inference(masks):
    def program(t):
        t.manual_seed(1)
        layer = t.nn.MultiheadAttention(8, 2, batch_first=True).eval()
        x, = tensors(t, (3, 4, 8))
        with t.no_grad():
            y, weights = layer(x, x, x, **masks(t))
        return y, y.stride(), weights
    same_outcome(program)


@pytest.mark.parametrize("make", [
    lambda nn: nn.MultiheadAttention(0, 1), lambda nn: nn.MultiheadAttention(4, 0),
    lambda nn: nn.MultiheadAttention(5, 2), lambda nn: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
    lambda nn: nn.TransformerEncoderLayer(4, 3), lambda nn: nn.TransformerDecoderLayer(4, 2, activation="tanh")])
def test_errors_of_settings(make):
    same_outcome(lambda t: make(t.nn))


# ------------------------------------------------------------------ layers and stacks
SETTINGS = {
    "plain": {}, "norm first": {"norm_first": True}, "batch first": {"batch_first": True},
    "gelu": {"activation": "gelu"}, "without biases": {"bias": False}, "dropout": {"dropout": 0.3},
    "float64": {"dtype": "float64"}}


def made(t, name, settings, **more):
    settings = {"dropout": 0.0, **settings, **more}
    if "dtype" in settings:
        settings["dtype"] = getattr(t, settings["dtype"])
    return getattr(t.nn, name)(8, 2, dim_feedforward=12, **settings)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("name", SETTINGS)
def test_encoder_and_decoder(name):
    def program(t):
        t.manual_seed(1)
        encoder = t.nn.TransformerEncoder(made(t, "TransformerEncoderLayer", SETTINGS[name]), 2, t.nn.LayerNorm(8).to(
            getattr(t, SETTINGS[name].get("dtype", "float32"))))
        decoder = t.nn.TransformerDecoder(made(t, "TransformerDecoderLayer", SETTINGS[name]), 2)
        first = SETTINGS[name].get("batch_first")
        x, target = tensors(t, *([(3, 4, 8), (3, 5, 8)] if first else [(4, 3, 8), (5, 3, 8)]),
                            dtype=SETTINGS[name].get("dtype", "float32"))
        causal = t.nn.Transformer.generate_square_subsequent_mask(4, dtype=x.dtype)
        memory = encoder(x, causal, t.tensor(HIDDEN))
        y = decoder(target, memory.detach(), t.ones(5, 5).triu(1).bool(), memory_key_padding_mask=t.tensor(HIDDEN))
        text = repr(encoder), repr(decoder), list(encoder.state_dict()), list(decoder.state_dict().items())
        return text, parts(encoder, [memory], [x], t), parts(decoder, [y], [target], t)
    same_outcome(program)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True", "ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("settings", [{}, {"batch_first": True}, {"batch_first": True, "norm_first": True},
                                      {"batch_first": True, "activation": "gelu"}])
@pytest.mark.parametrize("mask", ["hidden", "gaps", "all", "causal", "numbers", "short", "none"])
def test_encoder_at_inference(settings, mask):
    """Hidden places at the end are left out, masks of numbers are bools: only where torch has its kernel."""
    def program(t):
        t.manual_seed(1)
        layer = made(t, "TransformerEncoderLayer", settings).eval()
        encoder = t.nn.TransformerEncoder(layer, 2, t.nn.LayerNorm(8)).eval()
        x, = tensors(t, (3, 4, 8))
        if not settings:
            x = x.transpose(0, 1)
        given = {"hidden": {"src_key_padding_mask": t.tensor(HIDDEN)}, "gaps": {"src_key_padding_mask": t.tensor(GAPS)},
                 "all": {"src_key_padding_mask": t.tensor(ALL)}, "causal": {"mask": t.ones(4, 4).triu(1).bool()},
                 "numbers": {"mask": t.arange(16.).reshape(4, 4) % 4 / 3}, "none": {},
                 "short": {"src_key_padding_mask": t.zeros(2, 4).bool()}}[mask]
        with t.no_grad():
            y = encoder(x, **given)
            of_layer = layer(x, **{"src_mask" if name == "mask" else name: v for name, v in given.items()})
        return y, y.stride(), of_layer, of_layer.stride()
    same_outcome(program)


def test_fast_path_is_not_taken():
    """Where it is switched off, and where a hook looks on."""
    def program(t):
        t.manual_seed(1)
        layer = made(t, "TransformerEncoderLayer", {"batch_first": True}).eval()
        x, = tensors(t, (3, 4, 8))
        mask = t.arange(16.).reshape(4, 4) % 4 / 3
        found = []
        with t.no_grad():
            found.append(layer(x, mask))
            t.backends.mha.set_fastpath_enabled(False)
            found += [layer(x, mask), t.backends.mha.get_fastpath_enabled()]
            t.backends.mha.set_fastpath_enabled(True)
            handle = layer.linear1.register_forward_hook(lambda module, args, y: found.append(y))
            found.append(layer(x, mask))
            handle.remove()
        return found
    same_outcome(program)


@pytest.mark.parametrize("name, settings", [
    ("norm_first", {"batch_first": True, "norm_first": True}), ("batch_first", {}),
    ("bias", {"batch_first": True, "bias": False}), ("activation", {"batch_first": True, "activation": abs}),
    ("odd", {"batch_first": True, "nhead": 1}), ("none", {"batch_first": True})])
def test_warnings(name, settings):
    def program(t):
        layer = t.nn.TransformerEncoderLayer(**{"d_model": 8, "nhead": 2, "dim_feedforward": 12, **settings})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            encoder = t.nn.TransformerEncoder(layer, 1)
            x = t.zeros(2, 3, 8)
            encoder(x, t.zeros(3, 3), t.zeros((2, 3) if layer.self_attn.batch_first else (3, 2)).bool())
            t.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        return [str(w.message) for w in found], encoder.use_nested_tensor
    same_outcome(program)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("shapes", [((4, 3, 8), (5, 3, 8)), ((4, 8), (5, 8)), ((4, 3, 8), (5, 2, 8)),
                                    ((4, 3, 8), (5, 3, 7)), ((4, 3, 7), (5, 3, 8))])
def test_transformer(shapes):
    def program(t):
        t.manual_seed(1)
        model = t.nn.Transformer(8, 2, 1, 2, 12, activation=t.nn.functional.gelu)
        inputs = tensors(t, *shapes)
        y = model(*inputs, tgt_mask=model.generate_square_subsequent_mask(5))
        return list(model.state_dict().items()), repr(model), parts(model, [y], inputs, t), t.rand(2)
    same_outcome(program)


# ------------------------------------------------------------------ training
@pytest.mark.parametrize("optimizer, settings", [("Adam", {"lr": 1e-2}), ("SGD", {"lr": 0.1, "momentum": 0.9})])
def test_training_a_classifier(optimizer, settings):
    def program(t):
        nn = t.nn

        class Classifier(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.place = nn.Embedding(11, 16), nn.Parameter(t.zeros(6, 16))
                layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
                self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 3)

            def forward(self, words):
                x = self.encoder(self.embedding(words) + self.place, src_key_padding_mask=words == 0)
                return self.head(x.mean(1))

        t.manual_seed(5)
        model = Classifier()
        words, classes = t.randint(1, 11, (8, 6)), t.randint(0, 3, (8,))
        words[:, 4:] = 0
        step = getattr(t.optim, optimizer)(model.parameters(), **settings)
        losses = []
        for _ in range(5):
            step.zero_grad()
            loss = nn.functional.cross_entropy(model(words), classes)
            loss.backward()
            step.step()
            losses.append(loss)
        with t.no_grad():
            return losses, model.eval()(words)
    same_outcome(program, tolerance=2e-4)
