"""MNIST with a small convolutional network, trained by several processes (DistributedDataParallel).

    python -m tinytorch.distributed.run --nproc_per_node 2 examples/mnist_ddp.py
    mpirun -n 2 python examples/mnist_ddp.py

With `--module torch` the same file runs with PyTorch, under torchrun:

    torchrun --nproc_per_node 2 examples/mnist_ddp.py --module torch
"""
import argparse
import gzip
import importlib
import os
import struct
import time
from pathlib import Path


def arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("TINYTORCH_DATA", "data"), help="folder with MNIST's files")
    parser.add_argument("--module", default="tinytorch", help="tinytorch or torch (tinytorch)")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the training data (3)")
    parser.add_argument("--batch", type=int, default=128, help="samples of a step, over all processes (128)")
    parser.add_argument("--lr", type=float, default=5e-3, help="learning rate (0.005)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the weights and the shuffling (0)")
    parser.add_argument("--limit", type=int, help="use no more training examples than this")
    return parser.parse_args(argv)


def mnist(folder, part, torch):
    """(images (N, 1, 28, 28) in [0, 1], labels) of "train" or "t10k", from MNIST's own files in the folder or below
    it."""
    def read(kind):
        found = sorted(path for path in Path(folder).rglob(f"{part}-{kind}-ubyte*") if path.suffix in ("", ".gz"))
        if not found:
            raise FileNotFoundError(f"no {part}-{kind}-ubyte below {folder}: name the folder by --data")
        raw = gzip.open(found[0]).read() if found[0].suffix else found[0].read_bytes()
        shape = struct.unpack(f">{raw[3]}I", raw[4:4 + 4 * raw[3]])
        return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8).reshape(shape)
    return read("images-idx3").unsqueeze(1).float() / 255, read("labels-idx1").long()


def network(nn):
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1014, 84), nn.ReLU(),
                         nn.Linear(84, 10))


def accuracy(torch, dist, model, images, labels):
    """The share of `images` for which the model is right. Each process counts in its part."""
    rank, size = dist.get_rank(), dist.get_world_size()
    right = torch.zeros(1)
    with torch.no_grad():
        for i in range(rank * 1000, len(images), size * 1000):
            right += (model(images[i:i + 1000]).argmax(1) == labels[i:i + 1000]).sum()
    dist.all_reduce(right)
    return right.item() / len(images)


def main(argv=None):
    args = arguments(argv)
    torch = importlib.import_module(args.module)
    dist = importlib.import_module(f"{args.module}.distributed")
    data = importlib.import_module(f"{args.module}.utils.data")
    dist.init_process_group("gloo" if args.module == "torch" else "mpi")
    torch.set_num_threads(max(1, int(os.environ.get("OMP_NUM_THREADS", "1"))))
    rank, size = dist.get_rank(), dist.get_world_size()
    train, test = mnist(args.data, "train", torch), mnist(args.data, "t10k", torch)
    if args.limit:
        train, test = [tuple(t[:args.limit] for t in part) for part in (train, test)]
    torch.manual_seed(args.seed)
    model = torch.nn.parallel.DistributedDataParallel(network(torch.nn))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.3)
    samples = data.TensorDataset(*train)
    sampler = data.DistributedSampler(samples, seed=args.seed)
    loader = data.DataLoader(samples, batch_size=args.batch // size, sampler=sampler)
    rows = []
    if rank == 0:
        print("epoch    loss  test accuracy  seconds")
    for epoch in range(1, args.epochs + 1):
        sampler.set_epoch(epoch)
        start, losses = time.perf_counter(), []
        for images, labels in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        mean = torch.tensor(sum(losses) / len(losses))
        dist.all_reduce(mean)
        seconds = time.perf_counter() - start
        rows.append((epoch, mean.item() / size, accuracy(torch, dist, model.module, *test), seconds))
        if rank == 0:
            print("{:5} {:7.4f} {:14.4f} {:8.2f}".format(*rows[-1]), flush=True)
    dist.destroy_process_group()
    return rows


if __name__ == "__main__":
    main()
