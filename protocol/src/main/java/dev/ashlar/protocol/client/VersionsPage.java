package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.VersionEntry;
import java.util.List;

/**
 * A page of versions.
 *
 * @param entries versions, delete markers and common prefixes, in order; a common prefix has a name
 *     only
 * @param truncated whether more entries follow
 */
public record VersionsPage(List<VersionEntry> entries, boolean truncated) {}
