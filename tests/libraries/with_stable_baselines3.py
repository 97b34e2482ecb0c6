"""stable-baselines3: PPO and DQN for a few steps."""
import torch
from outcome import show
from stable_baselines3 import DQN, PPO

ppo = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=1, device="cpu")
ppo.learn(128)
dqn = DQN("MlpPolicy", "CartPole-v1", learning_starts=20, seed=1, device="cpu")
dqn.learn(60)
show(ppo=list(ppo.policy.parameters())[0], dqn=list(dqn.policy.parameters())[0], seed=torch.initial_seed())
