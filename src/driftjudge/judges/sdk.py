"""Endpoints that are asked through their provider's own client: Google's and Anthropic's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftjudge.judges.endpoint import Reply
from driftjudge.judges.providers import Dialect
from driftjudge.judges.settings import JudgeSettings

if TYPE_CHECKING:
    import httpx2


class SdkEndpoint:
    """Made on first use, and anew in a new event loop, which cannot use the old one's connections."""

    def __init__(self, settings: JudgeSettings, key: str | None, system: str, schema: Mapping[str, object]) -> None:
        self._settings = settings
        self._key = key
        self._system = system
        self._schema = schema
        self._client: httpx2.AsyncClient | None = None
        self._dialect: Dialect | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, user: str) -> Reply:
        """One request."""
        loop = asyncio.get_running_loop()
        if self._dialect is None or self._loop is not loop:
            import httpx2

            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=1024)
            self._client = httpx2.AsyncClient(limits=limits, timeout=self._settings.timeout)
            self._dialect = Dialect(self._settings, self._key, self._system, self._schema, self._client)
            self._loop = loop
        return await self._dialect.request(user)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client, self._dialect = self._client, None, None
        if client is not None:
            await client.aclose()
