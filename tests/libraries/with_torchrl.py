"""torchrl: modules over dictionaries of tensors, losses of PPO and DQN, advantages, a replay buffer."""
import torch
from outcome import show
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import LazyTensorStorage, OneHot, TensorDictReplayBuffer
from torchrl.modules import MLP, NormalParamExtractor, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss, SoftUpdate
from torchrl.objectives.value import GAE

seen = torch.randn(8, 5, 3)
nexts = torch.randn(8, 5, 3)
actor = ProbabilisticActor(
    TensorDictModule(torch.nn.Sequential(MLP(in_features=3, out_features=4, num_cells=[8]), NormalParamExtractor()),
                     in_keys=["observation"], out_keys=["loc", "scale"]),
    in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True)
critic = ValueOperator(MLP(in_features=3, out_features=1, num_cells=[8]), in_keys=["observation"])
ends = torch.rand(8, 5, 1) < 0.1
batch = TensorDict({"observation": seen, "next": TensorDict({
    "observation": nexts, "reward": torch.randn(8, 5, 1), "done": ends, "terminated": ends}, [8, 5])}, [8, 5])
with torch.no_grad():
    batch = actor(batch)
GAE(gamma=0.9, lmbda=0.8, value_network=critic)(batch)
loss_of = ClipPPOLoss(actor, critic)
optimizer, ppo = torch.optim.Adam(loss_of.parameters(), 0.01), []
for _ in range(4):
    losses = loss_of(batch.reshape(-1))
    total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    ppo.append(total.item())
chooser = QValueActor(MLP(in_features=3, out_features=3, num_cells=[8]), in_keys=["observation"], spec=OneHot(3))
dqn_of = DQNLoss(chooser, action_space="one-hot", delay_value=True)
dqn_of.make_value_estimator(gamma=0.9)
update, optimizer, dqn = SoftUpdate(dqn_of, eps=0.9), torch.optim.Adam(dqn_of.parameters(), 0.01), []
buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(64), batch_size=8)
buffer.extend(chooser(batch.select("observation", "next").reshape(-1)).detach())
for _ in range(4):
    drawn = buffer.sample()
    loss = dqn_of(drawn)["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update.step()
    dqn.append(loss.item())
show(ppo=ppo, dqn=dqn, advantage=batch["advantage"], action=batch["action"])
