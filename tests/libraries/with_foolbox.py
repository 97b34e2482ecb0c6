"""foolbox: attacks on a trained classifier and how far they have to go."""
import foolbox
import torch
from outcome import show, trained

x = torch.rand(40, 1, 4, 4)
y = (x.mean((1, 2, 3)) > 0.5).long()
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16, 2))
losses = trained(net, torch.optim.Adam(net.parameters(), 0.03), x, y, 30, torch.nn.functional.cross_entropy)
model = foolbox.PyTorchModel(net.eval(), bounds=(0, 1))
fgsm, _, hit = foolbox.attacks.FGSM()(model, x, y, epsilons=[0.01, 0.05, 0.2])
pgd, _, pgd_hit = foolbox.attacks.LinfPGD(steps=5, random_start=False)(model, x, y, epsilons=0.05)
deepfool, _, _ = foolbox.attacks.L2DeepFoolAttack(steps=10)(model, x, y, epsilons=None)
show(losses=losses, accuracy=foolbox.accuracy(model, x, y), fgsm=fgsm[-1], hit=hit.float().mean(1), pgd=pgd,
     pgd_hit=pgd_hit, deepfool=(deepfool - x).flatten(1).norm(dim=1))
