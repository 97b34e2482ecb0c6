"""onnx2torch: a model written as ONNX made a module, which is trained."""
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx2torch import convert
from outcome import show, trained

rng = np.random.default_rng(0)
parts = {"w": rng.normal(size=(4, 1, 3, 3)), "b": rng.normal(size=4), "m": rng.normal(size=(144, 3)) / 12,
         "c": rng.normal(size=3), "g": np.ones(4), "z": np.zeros(4)}
nodes = [helper.make_node("Conv", ["x", "w", "b"], ["h"], kernel_shape=[3, 3]),
         helper.make_node("BatchNormalization", ["h", "g", "b", "z", "g"], ["n"]),
         helper.make_node("Relu", ["n"], ["r"]),
         helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("Gemm", ["f", "m", "c"], ["l"]),
         helper.make_node("Add", ["l", "c"], ["y"])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 1, 8, 8])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])],
                          [numpy_helper.from_array(value.astype(np.float32), name) for name, value in parts.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
onnx.checker.check_model(model)
net = convert(model)
x, y = torch.rand(8, 1, 8, 8), torch.arange(8) % 3
before = net(x)
losses = trained(net, torch.optim.SGD(net.parameters(), 1e-1), x, y, 5, torch.nn.functional.cross_entropy)
show(before=before, losses=torch.tensor(losses), code=net.code, names=str([n for n, _ in net.named_parameters()]))
