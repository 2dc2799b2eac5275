"""The local judge: judges by comparing words, without a model server or network."""
