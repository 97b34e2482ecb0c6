"""Film reviews (IMDB), classified as good or bad by a convolution over word embeddings.

--data is the aclImdb folder, a tar of it (.tar, .tar.gz, .tar.xz), or a folder that contains one of these.
"""
import collections
import os
import random
import re
import tarfile

import common
import numpy as np

import tinytorch as torch
from tinytorch import nn

WORDS, LENGTH = 12849, 130        # vocabulary (0 pads short reviews), and the number of last tokens that are kept


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 50)
        self.conv = nn.Conv1d(50, 8, 3)
        self.pool = nn.MaxPool1d(8)
        self.out = nn.Linear(8 * ((LENGTH - 2) // 8), 1)
        with torch.no_grad():
            self.embedding.weight.mul_(0.05)       # small embeddings generalise better here

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(1, 2)
        x = self.pool(torch.relu(self.conv(x)))
        return torch.sigmoid(self.out(torch.flatten(x, 1))).squeeze(1)


def reviews(path):
    """(text, 1 for good or 0 for bad) for every labelled review, in the order of the files' names."""
    label = {"neg": 0, "pos": 1}
    found = []
    if os.path.isdir(path) and not os.path.isdir(os.path.join(path, "train")):
        inside = sorted(name for name in os.listdir(path) if name == "aclImdb" or ".tar" in name)
        if not inside:
            raise SystemExit(f"{path} holds neither an aclImdb folder nor a tar of one")
        path = os.path.join(path, inside[0])
    if os.path.isdir(path):
        for part in ("train", "test"):
            for kind in label:
                folder = os.path.join(path, part, kind)
                for name in os.listdir(folder):
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        found.append((f"{part}/{kind}/{name}", f.read(), label[kind]))
    else:
        with tarfile.open(path) as archive:
            for member in archive:
                parts = member.name.split("/")
                file = archive.extractfile(member)
                if file and len(parts) > 2 and parts[-2] in label:
                    found.append(("/".join(parts[-3:]), file.read().decode("utf-8"), label[parts[-2]]))
    return [(text, good) for _, text, good in sorted(found)]


def imdb(args):
    """((tokens, labels) for training, the same for test): 40,000 and 10,000 reviews, shuffled."""
    if not args.data:
        raise SystemExit("--data (or TINYTORCH_DATA) must say where the aclImdb reviews are")
    everything = reviews(args.data)
    random.Random(0).shuffle(everything)
    if args.limit:
        everything = everything[:args.limit * 5 // 4]
    texts = [re.findall(r"[a-z0-9']+", text.lower().replace("<br />", " ")) for text, _ in everything]
    cut = len(texts) * 4 // 5
    counts = collections.Counter(word for text in texts[:cut] for word in text)
    number = {word: i + 1 for i, (word, _) in enumerate(counts.most_common(WORDS - 1))}
    numbers = np.zeros((len(texts), LENGTH), np.int64)
    for row, text in zip(numbers, texts):
        last = [number[word] for word in text if word in number][-LENGTH:]
        row[LENGTH - len(last):] = last
    tokens = torch.from_numpy(numbers)
    labels = torch.tensor([good for _, good in everything], dtype=torch.get_default_dtype())
    return (tokens[:cut], labels[:cut]), (tokens[cut:], labels[cut:])


def main(argv=None):
    args = common.arguments(__doc__.split("\n")[0], 5, argv, resumes=True, optimizer=("adam", "adam or sgd"),
                            lr=(0.0, "learning rate; 0 means 1e-3 for adam, 0.5 for sgd"))
    train_data, test_data = imdb(args)
    torch.manual_seed(args.seed)
    model = Net()
    optimizer: torch.optim.Optimizer
    if args.optimizer == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr or 0.5, momentum=0.9)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=args.lr or 1e-3)
    return common.train(args, model, optimizer, nn.BCELoss(), train_data, test_data, 64,
                        predict=lambda probability: (probability > 0.5).to(probability.dtype))


if __name__ == "__main__":
    main()
