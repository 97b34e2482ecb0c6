"""MNIST with a small recurrent network: four steps of 196 pixels, 64 tanh units, SGD."""
import common

import tinytorch as torch
from tinytorch import nn


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


def main(argv=None):
    args = common.arguments(__doc__, 5, argv, resumes=True, lr=(0.015, "learning rate"))
    train_data, test_data = common.mnist(args)
    torch.manual_seed(args.seed)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    return common.train(args, model, optimizer, nn.CrossEntropyLoss(), train_data, test_data, 100)


if __name__ == "__main__":
    main()
