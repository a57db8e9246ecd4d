package dev.ashlar.metadata.state;

import dev.ashlar.metadata.table.Changes;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.CommandResult;
import java.util.List;

/**
 * The result of applying a log entry, which is the same on every peer.
 *
 * @param before the position of the tables before it
 * @param reached their position after it
 * @param results one per command
 */
public record Applied(
    AppliedRow before, AppliedRow reached, Changes changes, List<CommandResult> results) {}
