package dev.ashlar.gateway.operation.access;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.PutBucketDocument;

/** Replaces what a bucket says about access. */
record DocumentChanges(Backend backend) {
  /** What is put. */
  interface Change {
    /**
     * The document; empty: removes it.
     *
     * @param permit with the configuration of the bucket that the document has to agree with
     * @throws S3Exception if it does not agree
     */
    ByteString document(Permit permit) throws S3Exception, MetadataUnavailableException;
  }

  /**
   * Puts a document, on the condition that the bucket is configured as it was when that was decided
   * on. If it was configured meanwhile, decides again: once it is answered that public policies are
   * blocked, none is put.
   *
   * @param need of the permit
   * @throws S3Exception ConditionalRequestConflict after conflicts again and again
   */
  void put(Permit permit, Need need, AccessDocument kind, Change change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    ErrorMapping.requireOk(
        backend
            .changes()
            .submit(
                permit,
                permit.caller(),
                need,
                decided -> put(decided.bucket(), kind, change.document(decided))));
  }

  private CommandResult put(BucketRow decidedOn, AccessDocument kind, ByteString document)
      throws MetadataUnavailableException {
    return backend
        .metadata()
        .submit(
            Command.newBuilder()
                .setPutBucketDocument(
                    PutBucketDocument.newBuilder()
                        .setBucket(decidedOn.getName())
                        .setExpectedRevision(decidedOn.getConfigRevision())
                        .setKind(kind.number())
                        .setDocument(document)));
  }
}
