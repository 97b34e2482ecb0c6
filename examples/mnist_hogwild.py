"""A small CNN on MNIST, trained by several processes at once on the same weights, without locks (Hogwild: Niu, Recht,
Re and Wright 2011). Their updates may overwrite each other, but the network learns."""
import common

import tinytorch as torch
import tinytorch.multiprocessing as mp
from tinytorch import nn
from tinytorch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 5), nn.Conv2d(8, 16, 5)
        self.fc = nn.Linear(256, 10)

    def forward(self, x):
        x = F.max_pool2d(self.conv1(x), 2).relu()
        x = F.max_pool2d(self.conv2(x), 2).relu()
        return self.fc(x.flatten(1))


def train(rank, model, images, labels, args):
    """The work of each process: an epoch over all data, in an order of its own."""
    torch.manual_seed(args.seed + rank)
    torch.set_num_threads(1)
    dataset = torch.utils.data.TensorDataset(images, labels)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.5)
    for epoch in range(args.epochs):
        total = 0.0
        loader: torch.utils.data.DataLoader = torch.utils.data.DataLoader(dataset, args.batch, shuffle=True)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(common.floats(x)), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"process {rank}, epoch {epoch + 1}: loss {total / len(loader):.4f}", flush=True)


def main(argv=None):
    """Trains the network. Returns the share of the test images that it recognises at the end."""
    args = common.arguments(__doc__, 2, argv, processes=(2, "number of processes"), batch=(64, "images in a step"),
                            lr=(0.05, "learning rate"))
    torch.manual_seed(args.seed)
    (images, labels), test = common.mnist(args)
    model = Net().share_memory()
    images, labels = images.unsqueeze(1).share_memory_(), labels.share_memory_()
    mp.spawn(train, (model, images, labels, args), nprocs=args.processes)
    right = common.accuracy(model, test[0].unsqueeze(1), test[1], common.classes)
    print(f"test accuracy {right:.2%}")
    return right


if __name__ == "__main__":
    main()
