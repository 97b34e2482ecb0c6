"""open_clip: a small CLIP trained on pairs of images and texts, and what it finds alike."""
import open_clip
import torch
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg
from outcome import show

net = CLIP(16, CLIPVisionCfg(layers=2, width=32, head_width=16, patch_size=8, image_size=16),
           CLIPTextCfg(context_length=8, vocab_size=50, width=32, heads=2, layers=2))
images, texts = torch.randn(4, 3, 16, 16), torch.randint(1, 49, (4, 8))
texts[:, -1] = 49
loss_of, optimizer, losses = open_clip.ClipLoss(), torch.optim.AdamW(net.parameters(), 1e-3), []
for _ in range(3):
    a, b, scale = net(images, texts)
    loss = loss_of(a, b, scale)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
net.eval()
with torch.no_grad():
    alike = net.encode_image(images, normalize=True) @ net.encode_text(texts, normalize=True).T
show(losses=torch.tensor(losses), alike=alike)
