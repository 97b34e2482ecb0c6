"""Models that PyTorch and tinytorch export and read: each is (module, arguments, which dimensions vary)."""


def models(torch):
    """{name: function that makes one}."""
    nn, F = torch.nn, torch.nn.functional

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.Conv2d(
                8, 8, 3, padding="same", groups=4)
            self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8)])
            self.out = nn.Linear(8, 10)

        def forward(self, x):
            x = F.relu(self.norms[0](self.first(x)), inplace=True)
            y = self.norms[1](self.second(x))
            y += x
            return self.out(F.adaptive_avg_pool2d(F.relu(y), 1).flatten(1))

    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.conv, self.out = nn.Embedding(50, 16), nn.Conv1d(16, 8, 5), nn.Linear(8, 1)

        def forward(self, x):
            x = F.relu(self.conv(self.embedding(x).transpose(1, 2)))
            return torch.sigmoid(self.out(F.max_pool1d(x, x.shape[-1]).squeeze(-1)))

    class Last(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer, self.out = layer, nn.Linear(6 * (1 + layer.bidirectional), 3)

        def forward(self, x):
            y, _ = self.layer(x)
            return F.log_softmax(self.out(y[:, -1] if self.layer.batch_first else y[-1]), -1)

    class Containers(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.constant = nn.Parameter(torch.ones(3) * .5), torch.arange(3.)

        def forward(self, x, y, scale=2.0):
            return {"a": x["p"] * self.weight + y[0], "b": (y[1].max(1)[0] + self.constant[0], None, scale)}

    class Mask(nn.Module):
        def forward(self, q):
            allowed = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).tril()
            scores = (q @ q.transpose(1, 2) / 2).masked_fill(~allowed, float("-inf")).softmax(-1)
            return (scores @ q, torch.cat([q, q * 2], 1), torch.stack([q, q]).mean((0, 2)), q.split(2, 1)[1],
                    q[:, [0, 1]], torch.where(q > 0, q, 0.).clamp(max=1.))

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2))
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x):
            self.count.add_(1)
            return self.norm(x) + self.count.sum()

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.middle = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
            self.up, self.out = nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(8, 1, 1)

        def forward(self, x):
            a = F.relu(self.down(x))
            b = F.relu(self.middle(F.max_pool2d(a, 2)))
            return (self.out(torch.cat([a, self.up(b)], 1)), F.interpolate(a, size=(5, 7)),
                    F.interpolate(a, scale_factor=2., mode="bilinear", align_corners=False))

    class Sizes(nn.Module):
        def forward(self, x):
            n = x.shape[0]
            return x.view(n * 2, -1), x.new_zeros(n + 1).sum() + x.sum(), x.reshape(-1), torch.arange(n) * 2

    def normal(*shape):
        return torch.randn(*shape)

    def layers(*made):
        return nn.Sequential(*made)
    batch = {0: "batch"}
    return {
        "mlp": lambda: (layers(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4)), (normal(3, 20),), [batch]),
        "norms": lambda: (layers(nn.Linear(20, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(.5), nn.Linear(16, 4),
                                 nn.Softmax(-1)).eval(), (normal(3, 20),), [batch]),
        "cnn": lambda: (layers(nn.Conv2d(1, 6, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                               nn.Linear(150, 10)), (normal(2, 1, 12, 12),), [batch]),
        "residual": lambda: (Residual().eval(), (normal(2, 3, 16, 16),), [batch]),
        "residual that trains": lambda: (Residual(), (normal(2, 3, 16, 16),), None),
        "text": lambda: (Text(), (torch.randint(0, 50, (3, 20)),), [batch]),
        "lstm": lambda: (Last(nn.LSTM(8, 6, batch_first=True)), (normal(3, 5, 8),), None),
        "lstm both ways": lambda: (Last(nn.LSTM(8, 6, num_layers=2, bidirectional=True)), (normal(5, 3, 8),), None),
        "gru": lambda: (Last(nn.GRU(8, 6)), (normal(5, 3, 8),), None),
        "rnn": lambda: (Last(nn.RNN(8, 6, batch_first=True, nonlinearity="relu")), (normal(3, 5, 8),), None),
        "encoder": lambda: (nn.TransformerEncoderLayer(16, 4, 32, dropout=0., batch_first=True), (normal(2, 5, 16),),
                            None),
        "attention": lambda: (nn.MultiheadAttention(8, 2, batch_first=True), (
            normal(2, 5, 8), normal(2, 5, 8), normal(2, 5, 8)), None),
        "decoder": lambda: (layers(nn.ConvTranspose2d(4, 3, 4, 2, 1), nn.SiLU(), nn.Upsample(scale_factor=2),
                                   nn.AvgPool2d(3, 2, 1)), (normal(2, 4, 5, 5),), [batch]),
        "groups": lambda: (layers(nn.GroupNorm(2, 4), nn.PReLU(4), nn.Hardswish()), (normal(2, 4, 3, 3),), [batch]),
        "containers": lambda: (Containers(), ({"p": normal(3)}, [normal(3), normal(3, 2)], 3.0), None),
        "mask": lambda: (Mask(), (normal(2, 4, 3),), None),
        "counter": lambda: (Counter(), (normal(3, 4),), None),
        "unet": lambda: (UNet(), (normal(1, 1, 8, 8),), None),
        "bag": lambda: (nn.EmbeddingBag(10, 3, mode="mean"), (torch.randint(0, 10, (3, 4)),), None),
        "bilinear": lambda: (nn.Bilinear(3, 4, 2), (normal(5, 3), normal(5, 4)), [batch, batch]),
        "cosine": lambda: (nn.CosineSimilarity(), (normal(5, 3), normal(5, 3)), None),
        "double": lambda: (nn.Linear(3, 2).double(), (normal(2, 3).double(),), None),
        "pooling": lambda: (layers(nn.AdaptiveAvgPool2d((2, 3)), nn.LeakyReLU(.2), nn.Flatten(2), nn.Softplus()),
                            (normal(2, 4, 7, 8),), None),
        "three dimensions": lambda: (layers(nn.Conv3d(2, 3, 2), nn.ELU(), nn.MaxPool3d(2)), (normal(1, 2, 5, 5, 5),),
                                     None),
        "sizes": lambda: (Sizes(), (normal(4, 6),), [batch]),
    }


def dynamic_shapes(torch, told):
    """What `export` takes."""
    if told is None:
        return None
    dim = torch.export.Dim("batch", min=1, max=1000)
    return tuple([dict.fromkeys(d, dim) for d in told])
