"""pennylane: quantum circuits whose angles torch trains, alone and as a layer of a network."""
import pennylane as qml
import torch
from outcome import show, trained

device = qml.device("default.qubit", wires=2)


@qml.qnode(device, interface="torch", diff_method="backprop")
def circuit(inputs, weights):
    qml.AngleEmbedding(inputs, wires=range(2))
    qml.BasicEntanglerLayers(weights, wires=range(2))
    return [qml.expval(qml.PauliZ(wire)) for wire in range(2)]


@qml.qnode(device, interface="torch", diff_method="parameter-shift")
def shifted(angles):
    qml.RX(angles[0], wires=0)
    qml.CRY(angles[1], wires=[0, 1])
    return qml.probs(wires=[0, 1])


angles = torch.tensor([0.5, 0.8], dtype=torch.double, requires_grad=True)
probabilities = shifted(angles)
probabilities[3].backward()
jacobian = torch.autograd.functional.jacobian(lambda a: torch.stack(circuit(a, torch.ones(1, 2).double())), angles)
x, y = torch.randn(8, 2), torch.tensor([0, 1] * 4)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), qml.qnn.TorchLayer(circuit, {"weights": (2, 2)}),
                          torch.nn.Linear(2, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 0.05), x, y, 4, torch.nn.functional.cross_entropy)
show(probabilities=probabilities, grad=angles.grad, jacobian=jacobian, losses=losses, out=net(x))
