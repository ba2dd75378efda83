"""What sentences and pictures call those whose CPU time is told."""

_WORDS = {
    "sender_guest": "rest of the sender's guest",
    "receiver_guest": "rest of the receiver's guest",
    "guest": "rest of the guest",
    "sender_qemu": "sender's QEMU",
    "receiver_qemu": "receiver's QEMU",
    "qemu": "guest's QEMU",
    "reference_sender": "reference's sender",
    "reference_receiver": "reference's receiver",
}


def party(name: str) -> str:
    """Return what a party is called: ``sender``, ``sender's QEMU``; without an article."""
    return _WORDS.get(name, name)
