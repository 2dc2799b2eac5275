"""The local judge: string evidence, no model, no network."""
