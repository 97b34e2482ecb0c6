"""skorch: a network as scikit-learn's estimator, searched over."""
import torch
from outcome import network, show
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier

x = torch.randn(60, 4).numpy()
y = (x.sum(1) > 0).astype("int64")
net = NeuralNetClassifier(network(out=2), criterion=torch.nn.CrossEntropyLoss, max_epochs=3, lr=0.1, verbose=0,
                          train_split=None)
search = GridSearchCV(net, {"lr": [0.1, 0.5]}, cv=2, scoring="accuracy")
search.fit(x, y)
show(scores=list(search.cv_results_["mean_test_score"]), proba=torch.from_numpy(search.predict_proba(x[:5])))
