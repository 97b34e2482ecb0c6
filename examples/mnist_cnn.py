"""MNIST with a small convolutional network without biases."""
import common

import tinytorch as torch
from tinytorch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, bias=False)
        self.pool = nn.MaxPool2d(2)
        self.hidden = nn.Linear(1014, 84, bias=False)
        self.out = nn.Linear(84, 10, bias=False)

    def forward(self, images):
        x = self.pool(torch.relu(self.conv(images.unsqueeze(1))))
        x = torch.relu(self.hidden(torch.flatten(x, 1)))
        return self.out(x)


def main(argv=None):
    args = common.arguments(__doc__, 3, argv, resumes=True, lr=(5e-3, "learning rate"))
    train_data, test_data = common.mnist(args)
    torch.manual_seed(args.seed)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.3)
    return common.train(args, model, optimizer, nn.CrossEntropyLoss(), train_data, test_data, 100, scheduler=scheduler)


if __name__ == "__main__":
    main()
