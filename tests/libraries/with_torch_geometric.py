"""torch-geometric: graph convolution and attention."""
import torch
from outcome import show, trained
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

edges = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 0], [1, 0, 2, 1, 4, 3, 0, 4]])
data, results = Data(x=torch.randn(5, 4), edge_index=edges, y=torch.randint(3, (5,))), {}
for kind in (GCNConv, GATConv, SAGEConv):
    layer = kind(4, 3)
    results[kind.__name__] = trained(lambda x: layer(x, data.edge_index), torch.optim.Adam(layer.parameters(), 0.05),
                                     data.x, data.y, 4, torch.nn.functional.cross_entropy)
show(**results)
