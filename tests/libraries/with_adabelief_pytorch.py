"""adabelief-pytorch: an optimizer with steps by the belief in gradients, rectified or not, saved and loaded."""
from adabelief_pytorch import AdaBelief
from outcome import network, regression, show, trained

x, y = regression()
options = {"plain": {"rectify": False, "weight_decouple": False, "weight_decay": 1e-2},
           "rectified": {"weight_decay": 0.1},
           "amsgrad": {"amsgrad": True, "rectify": False, "eps": 1e-8},
           "fixed": {"fixed_decay": True, "weight_decay": 1e-3}}
losses = {}
for name, option in options.items():
    net = network()
    optimizer = AdaBelief(net.parameters(), lr=0.02, print_change_log=False, **option)
    losses[name] = trained(net, optimizer, x, y, 12)
    again = AdaBelief(net.parameters(), lr=1.0, print_change_log=False, **option)
    again.load_state_dict(optimizer.state_dict())
    losses[name] += trained(net, again, x, y, 5)
show(**losses, variance=[state["exp_avg_var"] for state in again.state.values()])
