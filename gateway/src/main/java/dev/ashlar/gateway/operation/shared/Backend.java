package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import java.time.Clock;
import java.util.Random;

/** What operations are built on. */
public record Backend(
    MetadataClient metadata,
    ObjectStore store,
    AccessControl access,
    DecidedChanges changes,
    S3Config config,
    Clock clock,
    Random random) {
  /** Submits a command that has to succeed. */
  public CommandResult submit(Command.Builder command)
      throws S3Exception, MetadataUnavailableException {
    return ErrorMapping.requireOk(metadata.submit(command));
  }
}
