"""A paper retold: Jesse Engel, "Optimizing RNNs with Differentiable Graphs" (2016), on MNIST row by row.

The paper draws a network as a circuit and marks the operations whose backward needs their inputs, because a program may
keep these or compute them again. From such graphs it derives a GRU that is up to 40 % faster. Here are its networks: a
fully connected layer, a recurrent network, and the GRU in four forms:

    textbook   six products in every time step, the reset gate before the recurrent product
    before     the products with the input for all steps at once, two more in every step
    after      the reset gate after the recurrent product, so that a single product is left
    fused      nn.GRU, which computes the same in one operation

It prints time, memory and accuracy of each, and the measurements of checkpointing.py and forward_mode.py. --out FOLDER
saves the pictures and the page that docs/ shows.
"""
import os

import checkpointing
import common
import forward_mode

import tinytorch as torch
from tinytorch import nn, viz

PIXELS, BATCH, UNITS = 28, 100, 128
SMALL = 10, 32                     # the batch and the units of the second timing


class Dense(nn.Module):
    """A fully connected layer, made of single operations."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs ** 0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.tanh(x @ self.weight + self.bias)


def weights(outputs, inputs):
    """The initial weights of nn.Linear."""
    bound = inputs ** -0.5
    return nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))


# States are (units, batch), a column for each image, so that a gate is one piece of memory.
class VanillaCell(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.recurrent = weights(units, units)

    def forward(self, x, h):
        return torch.tanh(x[0] + self.recurrent @ h)


class TextbookCell(nn.Module):
    """The gates of a GRU as in the textbook formulas. `x`: the pixels, three times."""

    def __init__(self, units):
        super().__init__()
        self.input = nn.ParameterList([weights(units, PIXELS) for _ in range(3)])
        self.recurrent = nn.ParameterList([weights(units, units) for _ in range(3)])

    def forward(self, x, h):
        pixels, (update_x, reset_x, new_x), (update_h, reset_h, new_h) = x[0], self.input, self.recurrent
        z = torch.sigmoid(update_x @ pixels + update_h @ h)
        r = torch.sigmoid(reset_x @ pixels + reset_h @ h)
        n = torch.tanh(new_x @ pixels + new_h @ (r * h))
        return n + z * (h - n)


class BeforeCell(nn.Module):
    """`x`: the products of the three gates with the pixels."""

    def __init__(self, units):
        super().__init__()
        self.gates, self.new = weights(2 * units, units), weights(units, units)

    def forward(self, x, h):
        update, reset = (self.gates @ h).chunk(2)
        z = torch.sigmoid(x[0] + update)
        r = torch.sigmoid(x[1] + reset)
        n = torch.tanh(x[2] + self.new @ (r * h))
        return n + z * (h - n)


class AfterCell(nn.Module):
    """BeforeCell with the reset gate applied to the product, so that there is a single product."""

    def __init__(self, units):
        super().__init__()
        self.recurrent = weights(3 * units, units)

    def forward(self, x, h):
        update, reset, new = (self.recurrent @ h).chunk(3)
        z = torch.sigmoid(x[0] + update)
        r = torch.sigmoid(x[1] + reset)
        n = torch.tanh(x[2] + r * new)
        return n + z * (h - n)


class Recurrent(nn.Module):
    """A cell over the rows of an image, and a layer that recognises the digit from the last state. `gates`: the number
    of gates whose products with the pixels are computed for all rows at once; 0 if the cell takes the pixels."""

    def __init__(self, cell, gates, units=UNITS):
        super().__init__()
        self.inputs = nn.ParameterList([weights(units, PIXELS) for _ in range(gates)])
        self.cell, self.out = cell(units), nn.Linear(units, 10)
        self.units = units

    def forward(self, images):
        pixels = images.permute(1, 2, 0)
        rows = list(zip(*[weight @ pixels for weight in self.inputs])) if self.inputs else [(row,) for row in pixels]
        h = torch.zeros(self.units, images.shape[0])
        for row in rows:
            h = self.cell(row, h)
        return self.out(h.t())


class Fused(nn.Module):
    def __init__(self, units=UNITS):
        super().__init__()
        self.gru, self.out = nn.GRU(PIXELS, units, bias=False), nn.Linear(units, 10)

    def forward(self, images):
        return self.out(self.gru(images.transpose(0, 1))[0][-1])


GRUS = {"textbook": lambda units=UNITS: Recurrent(TextbookCell, 0, units),
        "before": lambda units=UNITS: Recurrent(BeforeCell, 3, units),
        "after": lambda units=UNITS: Recurrent(AfterCell, 3, units), "fused": Fused}


def kept_bytes(model, images):
    """The bytes of the activations that are kept for backward."""
    return viz.graph(model, images).totals["activation"]


def times_of_grus(args, images, labels, units):
    models = {}
    for name, build in GRUS.items():
        torch.manual_seed(args.seed)
        models[name] = build(units)
    return common.median_times({name: common.training_step(model, images, labels) for name, model in models.items()})


def compare_grus(args, train_data, test_data):
    """A row for each form of the GRU: time of a training step at two sizes, kept bytes, accuracy."""
    images, labels = common.floats(train_data[0][:BATCH]), train_data[1][:BATCH]
    times, small = [times_of_grus(args, images[:batch], labels[:batch], units)
                    for batch, units in ((BATCH, UNITS), SMALL)]
    rows = []
    for name, build in GRUS.items():
        torch.manual_seed(args.seed)
        model = build()
        print(f"-- {name}")
        _, epochs = common.train(args, model, torch.optim.Adam(model.parameters(), lr=2e-3), nn.CrossEntropyLoss(),
                                 train_data, test_data, BATCH)
        rows.append((name, times[name], small[name], kept_bytes(model, images), epochs[-1][2]))
    return rows


def pictures(args):
    """Saves the graphs of the paper. Returns their names."""
    image = torch.rand(2, PIXELS, PIXELS)
    torch.manual_seed(args.seed)
    graphs = {"layer": viz.graph(Dense(PIXELS, 10), image[0]),
              "rnn": viz.graph(Recurrent(VanillaCell, 1), image)}
    for name, build in GRUS.items():
        graphs[f"gru_{name}"] = viz.graph(build(), image)
    for name, graph in graphs.items():
        graph.save(os.path.join(args.out, f"{name}.svg"))
        graph.save(os.path.join(args.out, f"{name}.html"))
    return list(graphs)


PAGE = """# Optimizing RNNs with differentiable graphs, retold

Written by `python examples/differentiable_graphs.py --data FOLDER --out docs/differentiable_graphs`; the paper is
Jesse Engel's of that name (2016). MNIST row by row, {units} units, batches of {batch}, {epochs} epochs, seed {seed}.

## The GRU

{grus}

{claims}

{pictures}

## What is kept, or computed again

Time steps in segments, each a checkpoint: only the states between the segments are kept
(`examples/checkpointing.py`; the network of `mnist_gru.py`).

{checkpoints}

## Forward mode

One direction of the inputs gives the derivatives of all outputs (`examples/forward_mode.py`).

{forward}
"""


def by_name(rows):
    """The times of a step at the two sizes, by the form of the GRU."""
    return {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}


def table_of_grus(rows):
    times, small = by_name(rows)
    head = ("GRU", f"ms per step, {UNITS} units, {BATCH} images", "to textbook",
            f"{SMALL[1]} units, {SMALL[0]} images", "to textbook", "MB kept for backward", "test accuracy")
    return common.table(head, [
        (name, f"{t:.2f}", f"{t / times['textbook']:.2f}", f"{s:.2f}", f"{s / small['textbook']:.2f}",
         f"{kept / 1e6:.2f}", f"{right:.4f}") for name, t, s, kept, right in rows])


def claims(rows):
    """The claims of the paper about the GRU, and the measured results."""
    times, small = by_name(rows)
    return (f"The paper says up to 40 % for all of its changes, about 10 % of them for the reset gate's place. Here a "
            f"step of \"textbook\" takes {times['textbook'] / times['fused']:.2f} and "
            f"{small['textbook'] / small['fused']:.2f} of the time of the fused one, and one of \"before\" "
            f"{times['before'] / times['after']:.2f} and {small['before'] / small['after']:.2f} of that of \"after\".")


def main(argv=None):
    args = common.arguments(__doc__.split("\n")[0], 2, argv, out=("", "folder for the pictures and the page"))
    train_data, test_data = common.mnist(args)
    images, labels = common.floats(train_data[0][:BATCH]), train_data[1][:BATCH]
    rows = compare_grus(args, train_data, test_data)
    grus = table_of_grus(rows)
    checkpoints = common.table(checkpointing.HEAD, checkpointing.measure(images, labels, args.seed, (14, 7, 4)))
    forward = common.table(forward_mode.HEAD, forward_mode.measure(images, labels, args.seed))
    for text in (grus, checkpoints, forward):
        print(f"\n{text}")
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        shown = "\n".join(f"![{name}]({os.path.basename(args.out)}/{name}.svg)\n" for name in pictures(args))
        page = PAGE.format(units=UNITS, batch=BATCH, epochs=args.epochs, seed=args.seed, grus=grus, pictures=shown,
                           claims=claims(rows), checkpoints=checkpoints, forward=forward)
        with open(args.out.rstrip("/") + ".md", "w", encoding="utf-8") as f:
            f.write(page)
    return rows


if __name__ == "__main__":
    main()
