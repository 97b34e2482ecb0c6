"""neuraloperator: Fourier neural operators trained on one grid and used on a finer one."""
import torch
from neuralop.losses import H1Loss, LpLoss
from neuralop.models import FNO, TFNO, UNO
from outcome import show, trained

x = torch.randn(4, 1, 8, 8)
y = x.roll(1, -1) * 0.5
fno = FNO(n_modes=(4, 4), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2, norm="instance_norm")
losses = trained(fno, torch.optim.Adam(fno.parameters(), 5e-3), x, y, 4, LpLoss(d=2, p=2))
tfno = TFNO(n_modes=(4,), in_channels=1, out_channels=2, hidden_channels=8, n_layers=2, rank=0.5)
line = x[:, :, 0]
tucker = trained(tfno, torch.optim.Adam(tfno.parameters(), 5e-3), line, torch.cat([line, -line], 1), 4)
uno = UNO(in_channels=1, out_channels=1, hidden_channels=6, n_layers=3, uno_out_channels=[6, 6, 6],
          uno_n_modes=[[4, 4], [2, 2], [4, 4]], uno_scalings=[[1, 1], [0.5, 0.5], [2, 2]], channel_mlp_skip="linear")
shaped = trained(uno, torch.optim.SGD(uno.parameters(), 1e-2), x, y, 3, H1Loss(d=2))
show(losses=losses, tucker=tucker, shaped=shaped, finer=fno.eval()(torch.randn(1, 1, 12, 12)))
