package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.RequestOrigin;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * What operations are built on.
 *
 * @param origin who has sent the request, for events; null: its bucket notifies nobody
 */
public record Backend(
    MetadataClient metadata,
    ObjectStore store,
    AccessControl access,
    DecidedChanges changes,
    S3Config config,
    Encryptions encryptions,
    EncryptionStart encryptionStart,
    Clock clock,
    Random random,
    @Nullable RequestOrigin origin) {
  /** For requests to buckets that notify nobody. */
  public Backend(
      MetadataClient metadata,
      ObjectStore store,
      AccessControl access,
      DecidedChanges changes,
      S3Config config,
      Encryptions encryptions,
      Clock clock,
      Random random) {
    this(
        metadata,
        store,
        access,
        changes,
        config,
        encryptions,
        new EncryptionStart(metadata),
        clock,
        random,
        null);
  }

  /** For a request to a bucket that notifies somebody. */
  public Backend askedBy(RequestOrigin sender) {
    return new Backend(
        metadata,
        store,
        access,
        changes,
        config,
        encryptions,
        encryptionStart,
        clock,
        random,
        sender);
  }

  /** A new command that changes objects, and whose events tell who has asked for it. */
  public Command.Builder command() {
    return origin == null ? Command.newBuilder() : Command.newBuilder().setOrigin(origin);
  }

  /** The same for a change of an object's bytes. */
  public void tellOrigin(ObjectChange change) {
    if (origin != null) {
      change.askedBy(origin);
    }
  }

  /** Submits a command that has to succeed. */
  public CommandResult submit(Command.Builder command)
      throws S3Exception, MetadataUnavailableException {
    return ErrorMapping.requireOk(metadata.submit(command));
  }

  /**
   * A document of a bucket; null if there is none.
   *
   * @param kind its number
   */
  public @Nullable ByteString document(String bucket, int kind)
      throws MetadataUnavailableException {
    return metadata.documents(bucket, List.of(kind)).get(kind);
  }

  /**
   * Replaces a document of a bucket.
   *
   * @param kind its number
   * @param document empty: the bucket has none from now on
   * @throws S3Exception NoSuchBucket
   */
  public void putDocument(String bucket, int kind, ByteString document)
      throws S3Exception, MetadataUnavailableException {
    submit(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket(bucket)
                    .setKind(kind)
                    .setDocument(document)));
  }
}
