package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BeginEncryption;
import dev.ashlar.protocol.message.Command;

/**
 * Whether the store can have encrypted objects. During an upgrade, metadata of an older version
 * would not understand them, and gateways of older builds would serve their bytes as they are.
 * Thread-safe.
 */
public final class EncryptionStart {
  private final MetadataClient metadata;
  private volatile boolean hasBegun;

  EncryptionStart(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Called before anything is encrypted or is to be encrypted by default. What was possible once
   * stays so, and metadata is not asked again.
   *
   * @throws S3Exception ServiceUnavailable until the upgrade is done
   */
  public void require() throws S3Exception, MetadataUnavailableException {
    if (!hasBegun) {
      ErrorMapping.requireOk(
          metadata.submit(
              Command.newBuilder().setBeginEncryption(BeginEncryption.getDefaultInstance())));
      hasBegun = true;
    }
  }
}
