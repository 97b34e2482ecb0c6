"""MNIST row by row: 28 steps of 28 pixels through a GRU of 128 units."""
import common

import tinytorch as torch
from tinytorch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(28, 128, batch_first=True)
        self.out = nn.Linear(128, 10)

    def forward(self, images):
        states, _ = self.gru(images)
        return self.out(states[:, -1])


def main(argv=None):
    args = common.arguments(__doc__, 2, argv, resumes=True, lr=(2e-3, "learning rate"))
    train_data, test_data = common.mnist(args)
    torch.manual_seed(args.seed)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    return common.train(args, model, optimizer, nn.CrossEntropyLoss(), train_data, test_data, 100)


if __name__ == "__main__":
    main()
