"""pina: Poisson's equation on a square by a network with labelled coordinates, and operators of differentiation."""
import tempfile

import torch
from outcome import show
from pina import Condition, LabelTensor, Trainer
from pina.domain import CartesianDomain
from pina.equation import Equation, FixedValue
from pina.model import FeedForward
from pina.operator import grad, laplacian
from pina.problem import SpatialProblem
from pina.solver import PhysicsInformedSingleModelSolver


def residual(input_, output_):
    force = torch.sin(input_.extract(["x"]) * torch.pi) * torch.sin(input_.extract(["y"]) * torch.pi)
    return laplacian(output_, input_, components=["u"], d=["x", "y"]) - force


class Square(SpatialProblem):
    output_variables = ["u"]
    spatial_domain = CartesianDomain({"x": [0, 1], "y": [0, 1]})
    domains = {"inside": spatial_domain, "left": CartesianDomain({"x": 0, "y": [0, 1]}),
               "low": CartesianDomain({"x": [0, 1], "y": 0})}
    conditions = {"left": Condition(domain="left", equation=FixedValue(0.0)),
                  "low": Condition(domain="low", equation=FixedValue(0.0)),
                  "inside": Condition(domain="inside", equation=Equation(residual))}


problem = Square()
problem.discretise_domain(16, "random", domains="inside")
problem.discretise_domain(8, "random", domains="left")
problem.discretise_domain(8, "random", domains="low")
net = FeedForward(input_dimensions=2, output_dimensions=1, layers=[8, 8])
solver = PhysicsInformedSingleModelSolver(problem, net)
trainer = Trainer(solver, max_epochs=4, accelerator="cpu", enable_model_summary=False, enable_progress_bar=False,
                  default_root_dir=tempfile.mkdtemp())
trainer.train()
points = LabelTensor(torch.rand(6, 2), ["x", "y"]).requires_grad_()
values = LabelTensor((points.extract(["x"]) * points.extract(["y"])).tensor ** 2, ["u"])
show(points=problem.discretised_domains["inside"].tensor, out=solver(points).tensor,
     loss=trainer.logged_metrics["train_loss"], slopes=grad(values, points).tensor)
