"""The parts that the examples share: command line, data, training loop, final table and picture."""
import argparse
import os
import statistics
import time

import tinytorch as torch
from tinytorch.utils.data import DataLoader, TensorDataset
from tinytorch.vision import datasets

try:
    from tqdm import tqdm
except ImportError:                # the progress bar is optional
    def tqdm(batches, **kwargs):
        return batches


def arguments(description, epochs, argv=None, resumes=False, **more):
    """The options of every example; `more`: {name: (default, help)}. `resumes`: adds the options of a training that can
    go on after it was killed, and whose step can be compiled."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", default=os.environ.get("TINYTORCH_DATA"), help="the place of the data set")
    parser.add_argument("--epochs", type=int, default=epochs, help=f"passes over the training data ({epochs})")
    parser.add_argument("--seed", type=int, default=0, help="seed of the weights and the shuffling (0)")
    parser.add_argument("--limit", type=int, help="use no more training examples than this")
    parser.add_argument("--plot", metavar="FILE", help="save a picture of accuracy and loss (needs matplotlib)")
    if resumes:
        parser.add_argument("--compile", action="store_true", help="record a step of the training once and replay it")
        parser.add_argument("--checkpoint", metavar="FILE", help="keep the state of the training there")
        parser.add_argument("--every", type=int, default=100, help="steps from one checkpoint to the next (100)")
        parser.add_argument("--resume", action="store_true", help="go on from that file, if it is there")
    for name, (default, text) in more.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{text} ({default})")
    return parser.parse_args(argv)


def mnist(args):
    """((images, labels) for training, the same for test): images (N, 28, 28) of bytes, for `floats`.

    They come from args.data; without it from ./data, to which they are downloaded if they are missing. If that
    fails, tinytorch draws digits itself.
    """
    if args.data:
        parts: list = [datasets.MNIST(args.data, train=train) for train in (True, False)]
    else:
        try:
            parts = [datasets.MNIST("data", train=train, download=True) for train in (True, False)]
        except RuntimeError as error:
            print(f"no MNIST ({str(error)[:70]}...): training on drawn digits instead")
            parts = [datasets.SyntheticDigits(train=train) for train in (True, False)]
    return limited(args, *[tuple([torch.from_numpy(t.numpy()) for t in (part.data, part.targets)]) for part in parts])


def floats(inputs):
    """Images of bytes as numbers in [0, 1]; other inputs as they are. Each batch is converted when it is used, because
    all images of MNIST take 47 MB as bytes, and 188 MB as floats."""
    return inputs.to(torch.get_default_dtype()).div_(255) if inputs.dtype == torch.uint8 else inputs


def text_of(path):
    """The text of a file, or of tinyshakespeare.txt in a folder; without a path the text of Python's own
    documentation."""
    if path is None:
        from pydoc_data.topics import topics
        return "\n".join(topics[name] for name in sorted(topics))
    if os.path.isdir(path):
        found = [os.path.join(path, *parts, "tinyshakespeare.txt") for parts in ((), ("text",), ("tinyshakespeare",))]
        path = next((name for name in found if os.path.exists(name)), found[0])
    with open(path, encoding="utf-8") as file:
        return file.read()


def limited(args, train, test):
    """The two parts, cut to `--limit` examples each. They are copies, so that the others need no memory."""
    if not args.limit:
        return train, test
    return tuple(tuple(t[:args.limit].clone() for t in part) for part in (train, test))


def accuracy(model, inputs, targets, predict):
    """The share of `inputs` for which the model is right."""
    model.eval()
    right = 0
    with torch.no_grad():
        for i in range(0, len(inputs), 250):
            right += (predict(model(floats(inputs[i:i + 250]))) == targets[i:i + 250]).sum().item()
    model.train()
    return right / len(inputs)


def classes(logits):
    return logits.argmax(1)


class Checkpoint:
    """The state of a training in a file: that of its parts (objects with a state_dict), that of the random numbers, and
    its records. Without --checkpoint it does nothing."""

    def __init__(self, args, **parts):
        self.path, self.every = getattr(args, "checkpoint", None), getattr(args, "every", 0)
        self.parts = {name: part for name, part in parts.items() if part is not None}
        self.resumes = self.path is not None and args.resume and os.path.exists(self.path)

    def load(self, records):
        """The records of a training that goes on, whose state is loaded; `records` for a training that begins."""
        if not self.resumes:
            return records
        state = torch.load(self.path)
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        torch.set_rng_state(state["random"])
        return {name: state[name] for name in records}

    def save(self, steps=0, **records):
        """Saves the state if `steps` is a multiple of --every. The file is the old one or the new one, even if the
        process is killed."""
        if self.path is not None and steps % self.every == 0:
            states = {name: part.state_dict() for name, part in self.parts.items()}
            torch.save({**states, "random": torch.get_rng_state(), **records}, self.path)


def compiled(args, step):
    """The function of a training step; with --compile, a function that records the step and replays it."""
    return torch.compile(step) if getattr(args, "compile", False) else step


def train(args, model, optimizer, loss_function, train_data, test_data, batch_size, predict=classes,
          scheduler=None):
    """Trains for args.epochs. Returns the losses of all steps and a row (epoch, mean loss, accuracy, seconds) for each
    epoch; prints the table and saves the picture."""
    inputs_held_out, targets_held_out = test_data
    loader: DataLoader = DataLoader(TensorDataset(*train_data), batch_size=batch_size, shuffle=True)
    checkpoint = Checkpoint(args, model=model, optimizer=optimizer, scheduler=scheduler, loader=loader)
    records: dict = checkpoint.load({"losses": [], "rows": [], "first": 0})
    losses, rows, first = records.values()

    def step(inputs, targets):
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss
    run = compiled(args, step)
    for epoch in range(len(rows) + 1, args.epochs + 1):
        start = time.perf_counter()
        for inputs, targets in tqdm(loader, desc=f"epoch {epoch}/{args.epochs}", leave=False):
            losses.append(run(floats(inputs), targets).item())
            checkpoint.save(len(losses), losses=losses, rows=rows, first=first)
        if scheduler is not None:
            scheduler.step()
        seconds = time.perf_counter() - start
        mean = sum(losses[first:]) / (len(losses) - first)
        rows.append((epoch, mean, accuracy(model, inputs_held_out, targets_held_out, predict), seconds))
        first = len(losses)
        checkpoint.save(losses=losses, rows=rows, first=first)
    print("epoch    loss  test accuracy  seconds")
    for epoch, mean, right, seconds in rows:
        print(f"{epoch:5} {mean:7.4f} {right:14.4f} {seconds:8.2f}")
    if args.plot:
        picture(args.plot, rows)
    return losses, rows


def picture(path, rows, held_out="test accuracy"):
    """Saves a picture of the loss, and of the third column of `rows`, over the epochs."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    epochs, losses, accuracies, _ = zip(*rows)
    figure, left = pyplot.subplots()
    left.plot(epochs, losses, "o-", color="tab:blue")
    left.set_xlabel("epoch")
    left.set_xticks(epochs)
    left.set_ylabel("training loss", color="tab:blue")
    right = left.twinx()
    right.plot(epochs, accuracies, "s-", color="tab:red")
    right.set_ylabel(held_out, color="tab:red")
    figure.savefig(path)
    print(f"saved {path}")


def training_step(model, images, labels):
    """A function that does a training step of a classifier."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return step


def median_times(steps, rounds=15):
    """The median time of each step, in milliseconds. The steps take turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(found[2:]) for name, found in times.items()}


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *[[str(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
