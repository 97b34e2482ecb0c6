"""tianshou: DQN and PPO collect from an environment and learn from what they collected."""
import gymnasium as gym
import numpy as np
import torch
from outcome import show
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from tianshou.utils.torch_utils import policy_within_training_step

found = {}
for name in ("dqn", "ppo"):
    torch.manual_seed(0)
    np.random.seed(0)
    envs = DummyVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(2)])
    envs.seed(0)
    space = envs.action_space[0]
    space.seed(0)
    if name == "dqn":
        net = Net(state_shape=4, action_shape=2, hidden_sizes=[16])
        policy = DiscreteQLearningPolicy(model=net, action_space=space, eps_training=0.1)
        learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), n_step_return_horizon=2, target_update_freq=5)
    else:
        body = Net(state_shape=4, hidden_sizes=[16])
        actor = DiscreteActor(preprocess_net=body, action_shape=2, softmax_output=False)
        critic = DiscreteCritic(preprocess_net=Net(state_shape=4, hidden_sizes=[16]))
        policy = ProbabilisticActorPolicy(actor=actor, dist_fn=lambda logits: torch.distributions.Categorical(
            logits=logits), action_space=space, action_scaling=False)
        learner = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3))
    buffer = VectorReplayBuffer(400, 2)
    collector = Collector(learner, envs, buffer)
    collector.reset()
    collector.collect(n_step=100)
    losses = []
    for _ in range(3):
        with policy_within_training_step(policy):
            told = (learner.update(buffer=buffer, sample_size=32) if name == "dqn" else
                    learner.update(buffer=buffer, batch_size=32, repeat=1))
        losses += [float(value) for _, value in sorted(told.get_loss_stats_dict().items())]
    found[name] = losses
    found[name + "_actions"] = torch.as_tensor(buffer.act[:50]).float()
show(**found)
