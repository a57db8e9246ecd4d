package dev.ashlar.gateway.operation.log;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.accesslog.AccessLog;
import dev.ashlar.gateway.accesslog.LogStream;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.encryption.key.KeyFailures;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ContentWriter;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Stores lines of access logs as objects of their target buckets, which the owner has for own. */
public record LogDelivery(Backend backend) implements AccessLog.Delivery {
  @Override
  public void deliver(LogStream stream, byte[] lines)
      throws S3Exception, UnavailableException, InterruptedException {
    LogTargets targets = new LogTargets(backend);
    String account = targets.account(stream.owner());
    String key =
        stream.key(
            account,
            backend.config().region(),
            backend.clock().instant(),
            backend.random().nextLong());
    BucketConfig target =
        targets.require(
            new LogTargets.Source(stream.bucket(), stream.owner()),
            account,
            stream.target().bucket(),
            key);
    StorageClass storageClass = StorageClass.asked(backend, target.row(), null);
    NewKey encryption = encryption(target);
    try (ContentWriter writer =
        ContentWriter.begin(backend, storageClass.profile().number(), lines.length, encryption)) {
      writer.write(Unpooled.wrappedBuffer(lines));
      ObjectSummary summary =
          ObjectSummary.newBuilder()
              .setSize(lines.length)
              .setEtag(writer.finishWithEtag(backend.random()))
              .setOwner(target.row().getOwner())
              .setStorageClass(storageClass.stored())
              .setChecksum(checksum(lines))
              .build();
      ObjectFacts facts = NewKey.addTo(facts(stream, target), encryption, writer.run());
      ErrorMapping.requireOk(writer.commit(blobs -> put(key, summary, facts, blobs, target)));
    }
  }

  /** Lines wait for a key that is missing, whoever is to blame for that. */
  private @Nullable NewKey encryption(BucketConfig target)
      throws S3Exception, UnavailableException, InterruptedException {
    try {
      return NewKey.chosen(backend, EncryptionFields.NONE, target);
    } catch (S3Exception e) {
      throw KeyFailures.unsealed(
          "access log in bucket %s: %s".formatted(target.row().getName(), e.getMessage()));
    }
  }

  private static Command.Builder put(
      String key,
      ObjectSummary summary,
      ObjectFacts facts,
      List<NewBlob> blobs,
      BucketConfig target) {
    return Command.newBuilder()
        .setPutObject(
            PutObject.newBuilder()
                .setBucket(target.row().getName())
                .setKey(key)
                .setSummary(summary)
                .setAttributes(
                    ObjectAttributes.newBuilder().putHeaders("content-type", "text/plain"))
                .setFacts(facts)
                .addAllBlobs(blobs));
  }

  private static ChecksumValue checksum(byte[] lines) {
    RunningDigest digest = ChecksumKind.CRC64NVME.start();
    digest.update(ByteBuffer.wrap(lines));
    return ChecksumValue.newBuilder()
        .setAlgorithm(ChecksumKind.CRC64NVME.algorithm())
        .setValue(ByteString.copyFrom(digest.value()))
        .build();
  }

  /** With what is granted on the objects of this log. */
  private static ObjectFacts facts(LogStream stream, BucketConfig target) {
    List<Acl.Grant> granted = stream.target().grants().grants();
    if (granted.isEmpty() || target.ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
      return ObjectFacts.getDefaultInstance();
    }
    List<Acl.Grant> all = new ArrayList<>(Acl.privateOf(target.row().getOwner()).grants());
    all.addAll(granted);
    return ObjectFacts.newBuilder().setAcl(new Acl(all).toDocument()).build();
  }
}
