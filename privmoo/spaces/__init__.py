"""Search spaces: how decision vectors become recodings."""
