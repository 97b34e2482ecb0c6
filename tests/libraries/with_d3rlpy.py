"""d3rlpy: offline learning (behaviour cloning, DQN, CQL) from recorded episodes."""
import contextlib
import io

import d3rlpy
import numpy as np
import torch
from outcome import show

d3rlpy.seed(0)
rng = np.random.default_rng(0)
seen = rng.normal(size=(200, 3)).astype(np.float32)
ends = np.zeros(200, np.float32)
ends[24::25] = 1
continuous = d3rlpy.dataset.MDPDataset(seen, np.tanh(seen[:, :2]), seen.sum(1), ends)
discrete = d3rlpy.dataset.MDPDataset(seen, (seen[:, 0] > 0).astype(np.int32)[:, None], seen.sum(1), ends)
encoder = d3rlpy.models.VectorEncoderFactory([16])
found = {}
for name, config, data in (
        ("cloned", d3rlpy.algos.BCConfig(batch_size=16, encoder_factory=encoder), continuous),
        ("dqn", d3rlpy.algos.DQNConfig(batch_size=16, encoder_factory=encoder), discrete),
        ("cql", d3rlpy.algos.CQLConfig(batch_size=8, actor_encoder_factory=encoder, critic_encoder_factory=encoder,
                                       n_action_samples=2), continuous)):
    torch.manual_seed(0)
    np.random.seed(0)
    learner = config.create(device="cpu:0")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        learner.fit(data, n_steps=20, n_steps_per_epoch=10, show_progress=False,
                    logger_adapter=d3rlpy.logging.NoopAdapterFactory())
    found[name] = torch.tensor(learner.predict(seen[:20])).float()
    if name != "cloned":
        actions = learner.predict(seen[:20])
        found[name + "_value"] = torch.tensor(learner.predict_value(seen[:20], actions))
show(**found)
