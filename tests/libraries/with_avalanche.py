"""avalanche: continual learning of two experiences, naive, with replay and with elastic weights."""
import random

import numpy as np
import torch
from avalanche.benchmarks import tensors_benchmark
from avalanche.evaluation.metrics import accuracy_metrics, loss_metrics
from avalanche.models import SimpleMLP
from avalanche.training.plugins import EvaluationPlugin
from avalanche.training.supervised import EWC, Naive, Replay
from outcome import show

found = {}
for name, strategy, more in (("naive", Naive, {}), ("replay", Replay, {"mem_size": 20}),
                             ("ewc", EWC, {"ewc_lambda": 1})):
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    parts = [(torch.randn(32, 6) + shift, torch.arange(32) % 2 + 2 * task) for task, shift in enumerate((0.0, 1.0))]
    benchmark = tensors_benchmark(train_tensors=parts, test_tensors=parts, task_labels=[0, 0])
    net = SimpleMLP(num_classes=4, input_size=6, hidden_size=8, drop_rate=0.1)
    plugin = EvaluationPlugin(accuracy_metrics(stream=True), loss_metrics(epoch=True, stream=True), loggers=[])
    learner = strategy(model=net, optimizer=torch.optim.SGD(net.parameters(), 0.1),
                       criterion=torch.nn.CrossEntropyLoss(), train_mb_size=8, train_epochs=2,
                       eval_mb_size=16, evaluator=plugin, **more)
    numbers = []
    for experience in benchmark.train_stream:
        learner.train(experience)
        numbers += [float(value) for value in learner.eval(benchmark.test_stream).values()]
    found[name] = numbers
show(**found)
