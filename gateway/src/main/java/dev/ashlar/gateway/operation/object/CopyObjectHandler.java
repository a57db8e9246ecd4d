package dev.ashlar.gateway.operation.object;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ContentWriter;
import dev.ashlar.gateway.operation.shared.CopySources;
import dev.ashlar.gateway.operation.shared.CopySources.Attempt;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.operation.shared.NewKey;
import dev.ashlar.gateway.operation.shared.NewObjectAccess;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.operation.shared.Reencoding;
import dev.ashlar.gateway.operation.shared.StorageClass;
import dev.ashlar.gateway.operation.shared.WriteConditions;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.Tag;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies an object. The copy refers to the same blobs, so no data moves. It gets new blobs only
 * where its storage class means another profile than they have, where one of the two is encrypted
 * and the other is not, and where only the bytes tell its ETag. Otherwise an encrypted copy has the
 * same data key, sealed again.
 */
public record CopyObjectHandler(Backend backend) {
  /**
   * What the copy has besides content and metadata.
   *
   * @param encryption null: it is not encrypted
   */
  private record Target(
      StorageClass storageClass, NewObjectAccess access, @Nullable Encryption encryption) {
    /** Whether the copy can have the bytes of its source as they are stored. */
    boolean canShare(ObjectRecord source) {
      return storageClass.hasProfileOf(source.getSlicesList())
          && EncryptedRuns.isEncrypted(source) == (encryption != null)
          && !needsMd5(source);
    }

    /**
     * Whether the ETag is to be an MD5 that only the bytes tell: clients compare it with what they
     * download, unless it has a hyphen.
     */
    private boolean needsMd5(ObjectRecord source) {
      return encryption instanceof Encryption.Master
          && !EncryptionHeaders.hasMd5AsEtag(source.getFacts())
          && source.getSummary().getEtag().indexOf('-') < 0;
    }

    /** The summary of a copy that has these bytes. */
    ObjectSummary.Builder summary(ObjectSummary source) {
      return source.toBuilder().setOwner(access.owner()).setStorageClass(storageClass.stored());
    }
  }

  /** A copy that was made. */
  private record Made(ObjectSummary summary, ObjectFacts facts) {}

  public HttpAnswer handle(S3Request.CopyObject request, Permit permit)
      throws S3Exception, UnavailableException, InterruptedException {
    StorageClass storageClass =
        StorageClass.asked(backend, permit.bucket(), request.storageClass());
    NewObjectAccess access = NewObjectAccess.of(backend, permit, request.acl());
    WriteConditions.check(backend, request, request.precondition());
    Encryption encryption = NewKey.how(backend, request.encryption(), permit.config());
    Target target = new Target(storageClass, access, encryption);
    CopySources.Copied<Made> copied =
        new CopySources(backend, permit.caller())
            .copy(
                request.source(),
                from -> {
                  ObjectRecord source = from.object().object();
                  requireCopyable(source, request.checksum());
                  ObjectFacts facts = access.facts(facts(request, from, permit.caller()));
                  return target.canShare(source)
                      ? share(request, source, facts, target)
                      : reencode(request, from.object(), facts, target);
                });
    HttpHeaders headers = Answers.headers();
    Answers.addVersion(headers, copied.result());
    copied.addSource(headers);
    ObjectSummary copy = copied.copy().summary();
    ObjectFacts facts = copied.copy().facts();
    EncryptionHeaders.addWritten(headers, facts, request.encryption().customer());
    long writtenMs = copied.result().getLastModifiedMs();
    LifecycleHeaders.addExpiration(
        headers, permit, request.key(), copy.getSize(), facts.getTagsList(), writtenMs);
    return Answers.xml(document(copy, writtenMs).toBytes(), headers);
  }

  private static void requireCopyable(ObjectRecord source, ChecksumAlgorithm wanted)
      throws S3Exception {
    SizeLimits.requireCopyable(source.getSummary().getSize());
    ChecksumAlgorithm present = source.getSummary().getChecksum().getAlgorithm();
    if (wanted != ChecksumAlgorithm.CHECKSUM_NONE && wanted != present) {
      throw new S3Exception(
          S3Error.NOT_IMPLEMENTED,
          "A copy keeps the checksum of its source; computing another one is not implemented.");
    }
  }

  /** What the copy has beside its content. Tags are copied by those who may read and put them. */
  private ObjectFacts facts(S3Request.CopyObject request, Permit source, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    List<Tag> tags = source.object().object().getFacts().getTagsList();
    if (!request.copiesTags() || tags.isEmpty()) {
      return request.given().facts();
    }
    if (!source.isAllowedOnObject(request.source().needsOfTags())) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    backend
        .access()
        .require(
            caller.bringing(tags),
            new Need(
                List.of("s3:PutObject", "s3:PutObjectTagging"),
                new Need.Resource.Key(request.bucket(), request.key())));
    return request.given().facts().toBuilder().addAllTags(tags).build();
  }

  /** Makes a copy that refers to the blobs of its source. */
  private Attempt<Made> share(
      S3Request.CopyObject request, ObjectRecord source, ObjectFacts given, Target target)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    ObjectFacts facts = sealedAgain(request, source, given, target);
    ObjectSummary summary =
        target.summary(source.getSummary()).setEtag(etag(source.getSummary(), facts)).build();
    CopyObject command =
        CopyObject.newBuilder()
            .setSourceBucket(request.source().bucket())
            .setSourceKey(request.source().key())
            .setSourceVersion(source.getVersion())
            .setSourceMoved(source.getMoved())
            .setBucket(request.bucket())
            .setKey(request.key())
            .setSummary(summary)
            .setAttributes(request.attributes().of(source.getAttributes()))
            .setPrecondition(request.precondition())
            .setFacts(facts)
            .setLock(request.given().lock())
            .build();
    return new Attempt<>(
        backend.metadata().submit(backend.command().setCopyObject(command)),
        new Made(summary, facts));
  }

  /** Adds what the copy has of the encryption of its source: the runs, and the key for itself. */
  private ObjectFacts sealedAgain(
      S3Request.CopyObject request, ObjectRecord source, ObjectFacts given, Target target)
      throws S3Exception, InterruptedException {
    CustomerFields customer = request.source().customer();
    Encryption encryption = target.encryption();
    if (encryption == null) {
      ObjectContent.requireCustomerKey(backend, source.getFacts(), customer);
      return given;
    }
    ByteString wrapped =
        backend
            .encryptions()
            .keys()
            .rewrap(source.getFacts().getWrappedKey(), customer.opened(), encryption);
    return given.toBuilder()
        .setWrappedKey(wrapped)
        .addAllRuns(source.getFacts().getRunsList())
        .build();
  }

  /** That of the source, if it may be known. */
  private String etag(ObjectSummary source, ObjectFacts copy) {
    String etag = source.getEtag();
    if (EncryptionHeaders.hasMd5AsEtag(copy)) {
      return etag;
    }
    int hyphen = etag.indexOf('-'); // before the number of parts
    return ContentWriter.randomEtag(backend.random()) + (hyphen < 0 ? "" : etag.substring(hyphen));
  }

  /** Makes a copy with blobs of its own. It has no parts, as on Amazon S3. */
  private Attempt<Made> reencode(
      S3Request.CopyObject request, ObjectRead source, ObjectFacts facts, Target target)
      throws S3Exception, UnavailableException, InterruptedException {
    NewKey key = NewKey.create(backend, target.encryption());
    ObjectSummary present = source.object().getSummary();
    ChecksumAlgorithm checksum = present.getChecksum().getAlgorithm();
    Reencoding.Ended ended =
        new Reencoding(
                ObjectContent.ofSource(backend, request.source(), source),
                new ByteRange(0, present.getSize()),
                target.storageClass().profile(),
                checksum == ChecksumAlgorithm.CHECKSUM_NONE
                    ? ChecksumAlgorithm.CHECKSUM_CRC64NVME
                    : checksum,
                key)
            .run(
                backend,
                (written, blobs) ->
                    backend
                        .command()
                        .setPutObject(
                            PutObject.newBuilder()
                                .setBucket(request.bucket())
                                .setKey(request.key())
                                .setSummary(summary(target, present, written))
                                .setAttributes(
                                    request.attributes().of(source.object().getAttributes()))
                                .addAllBlobs(blobs)
                                .setPrecondition(request.precondition())
                                .setFacts(NewKey.addTo(facts, key, written.run()))
                                .setLock(request.given().lock())
                                .setCopied(true)));
    Reencoding.Written written = ended.written();
    return new Attempt<>(
        ended.result(),
        new Made(summary(target, present, written), NewKey.addTo(facts, key, written.run())));
  }

  private static ObjectSummary summary(
      Target target, ObjectSummary source, Reencoding.Written written) {
    return target
        .summary(source)
        .clearPartCount()
        .setEtag(written.etag())
        .setChecksum(written.checksum())
        .build();
  }

  private static XmlWriter document(ObjectSummary copy, long lastModifiedMs) {
    XmlWriter xml = new XmlWriter().openRoot("CopyObjectResult");
    xml.element("LastModified", S3Dates.xml(lastModifiedMs));
    xml.element("ETag", Etags.quote(copy.getEtag()));
    Answers.writeChecksum(xml, copy.getChecksum(), true);
    return xml.close();
  }
}
