"""The RNN of examples/mnist_rnn.py, trained in a browser: 4 steps of 196 pixels, 64 tanh units, SGD 0.015, batch 100.

It runs under any Python, so it can be tried without a browser:

    python examples/browser/train.py --limit 6000 --epochs 2
"""
import argparse
import time

import tinytorch as torch
from tinytorch import nn
from tinytorch.vision import datasets

BATCH = 100


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(196, 64, batch_first=True)
        self.out = nn.Linear(64, 10)
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)

    def forward(self, images):
        states, _ = self.rnn(images.view(-1, 4, 196))
        return self.out(states[:, -1])


def pixels(folder, train, limit):
    """(images, labels): float32 (n, 28, 28) from 0 to 1 and int64 (n,), of MNIST's files in `folder`, or drawn by
    tinytorch where there is no folder. They are cut before they become floats, which take four times the memory."""
    part = datasets.MNIST(folder, train=train) if folder else datasets.SyntheticDigits(train=train, size=limit)
    images, labels = part.data[:limit], part.targets[:limit]
    return images.float().div_(255), labels


def right(model, images, labels):
    """The share of the images that the model names rightly."""
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def train(report, folder=None, limit=6000, epochs=5, every=5, seed=0):
    """Trains a model, and returns it. Calls report("data", number of images, seconds that they took),
    report("loss", step, mean loss of the last `every` steps) and report("accuracy", epoch, share of test images)."""
    start = time.perf_counter()
    images, labels = pixels(folder, True, limit)
    test = pixels(folder, False, max(1, limit // 6))
    report("data", len(images), time.perf_counter() - start)
    torch.manual_seed(seed)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.015)
    step, losses = 0, []
    for epoch in range(1, epochs + 1):
        for chosen in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step += 1
            if step % every == 0:
                report("loss", step, sum(losses) / len(losses))
                losses.clear()
        report("accuracy", epoch, right(model, *test))
    return model


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder with MNIST's files")
    parser.add_argument("--limit", type=int, default=6000, help="how many images to train on")
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args(argv)
    train(lambda kind, at, value: print(f"{kind:8} {at:6} {value:.4f}"), args.data, args.limit, args.epochs, 20)


if __name__ == "__main__":
    main()
