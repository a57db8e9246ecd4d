package dev.ashlar.metadata.state;

import dev.ashlar.metadata.table.Changes;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.CommandResult;
import java.util.List;

/**
 * What a log entry came to: the same on every peer.
 *
 * @param before where the tables were
 * @param reached where they are now
 * @param results one per command
 */
public record Applied(
    AppliedRow before, AppliedRow reached, Changes changes, List<CommandResult> results) {}
