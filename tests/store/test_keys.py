from __future__ import annotations

import pytest
from sqlalchemy import text

from driftjudge.store import Store, keys


def test_a_key_opens_what_it_was_made_for_until_it_is_revoked(store: Store) -> None:
    with store.begin() as tx:
        key, secret = keys.create(tx, name="ci", roles=["ingest"], monitors=["m"], at=1.0)
        assert keys.check(tx, secret) == key
        assert keys.listed(tx) == [key]
        assert keys.revoke(tx, key.id, at=2.0)
        assert keys.check(tx, secret) is None
        assert not keys.revoke(tx, key.id, at=3.0)


def test_the_secret_is_nowhere_in_the_database(store: Store) -> None:
    with store.begin() as tx:
        _, secret = keys.create(tx, name="ci", roles=["admin"], at=1.0)
        row = tx.execute(text("SELECT * FROM api_keys")).one()
    assert secret.split("_", 2)[2] not in repr(row)


@pytest.mark.parametrize("change", ["", "x", "dj_", "dj_none_secret", "{}x", "x{}", "{}\ud800"])
def test_any_other_text_opens_nothing(store: Store, change: str) -> None:
    with store.begin() as tx:
        _, secret = keys.create(tx, name="ci", roles=["read"], at=1.0)
        assert keys.check(tx, change.format(secret)) is None


@pytest.mark.parametrize("roles", [[], ["root"]])
def test_roles_are_known_ones(store: Store, roles: list[str]) -> None:
    with pytest.raises(ValueError, match="roles are some of"), store.begin() as tx:
        keys.create(tx, name="ci", roles=roles, at=1.0)
