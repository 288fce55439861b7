"""The state of tensors: each storage once, and of every tensor its place in it, its gradient and its flags."""

from __future__ import annotations

from typing import Any

from gpuprof.verification.state.object_states import ObjectState

_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")


class StorageState(ObjectState):
    """The bytes behind tensors."""

    def __init__(self, storage: Any):
        self._storage, self.bytes = storage, storage.nbytes()
        self.on_device = storage.device.type == "cuda"
        self.on_host = not self.on_device
        self._copy: Any = None

    def keep(self) -> None:
        """On its own device, unless `on_host` says that there is no room for it."""
        self._copy = self._storage.cpu() if self.on_device and self.on_host else self._storage.clone()

    def restore(self) -> None:
        """Bit by bit; a storage that was resized gets its size back."""
        if self._storage.nbytes() != self.bytes:
            self._storage.resize_(self.bytes)
        self._storage.copy_(self._copy)


class TensorState(ObjectState):
    """What of a tensor is not its storage: which part it is of which storage, gradient, flags, version."""

    def __init__(self, tensor: Any):
        self._tensor = tensor
        self._alias = tensor.detach()
        self._leaf = tensor.is_leaf
        self._requires_grad = tensor.requires_grad
        self._version = None if tensor.is_inference() else tensor._version
        self.gradient = tensor.grad if self._leaf else None
        held = {name: getattr(tensor, name) for name in _HOOKS}
        self._hooks = {name: (hooks, None if hooks is None else dict(hooks)) for name, hooks in held.items()}

    @property
    def hooks(self) -> list[Any]:
        """The functions that run with its gradient."""
        return [hook for _, kept in self._hooks.values() for hook in (kept or {}).values()]

    def restore(self) -> None:
        """The version too: a graph of an earlier cell that needs this tensor unchanged finds it so."""
        tensor, alias = self._tensor, self._alias
        if tensor.data_ptr() != alias.data_ptr() or tensor.shape != alias.shape or tensor.dtype != alias.dtype:
            tensor.data = alias
        if self._leaf:
            if tensor.requires_grad != self._requires_grad:
                tensor.requires_grad_(self._requires_grad)
            if tensor.grad is not self.gradient:
                tensor.grad = self.gradient
        for name, (hooks, kept) in self._hooks.items():
            _put_hooks(tensor, name, hooks, kept)
        if self._version is not None and tensor._version != self._version:
            _set_version(tensor, self._version)


class CopiedTensorState(ObjectState):
    """A tensor without one plain storage (sparse, quantised): the whole of it as a copy."""

    def __init__(self, tensor: Any):
        self._tensor = tensor
        self._copy = tensor.detach().clone()

    def restore(self) -> None:
        """Through `data`, which autograd does not see."""
        self._tensor.data = self._copy.clone()


def _put_hooks(tensor: Any, name: str, hooks: Any, kept: dict[int, Any] | None) -> None:
    """In their own dict: the handles that the user has point there."""
    now = getattr(tensor, name)
    if now is not hooks and tensor.is_leaf:
        (now or {}).clear()  # torch goes on calling what a dict held when None takes its place
        setattr(tensor, name, hooks)
        now = hooks
    if now is not None and dict(now) != (kept or {}):
        now.clear()
        now.update(kept or {})


def _set_version(tensor: Any, version: int) -> None:
    import torch

    put: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        put((tensor,), (version,))
    except TypeError:  # before torch 2.6
        put(tensor, version)
