package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.access.policy.decision.PublicAccessBlock;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.AccessDocuments;
import dev.ashlar.gateway.operation.shared.Acls;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Config.NewBuckets;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.ResultCode;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Creates a bucket in the region of this installation. */
public record CreateBucketHandler(Backend backend) {
  /**
   * Labels of a host name, with dots between: lower-case letters, digits and hyphens, a letter or
   * digit at both ends.
   */
  private static final Pattern CHARACTERS =
      Pattern.compile("[a-z0-9](?:[a-z0-9]|-(?!\\.)|\\.(?![.-]))*[a-z0-9]");

  private static final Pattern IP_ADDRESS = Pattern.compile("[0-9]*(?:\\.[0-9]*){3}");
  private static final List<String> RESERVED_PREFIXES = List.of("xn--", "sthree-", "amzn-s3-demo-");
  private static final List<String> RESERVED_SUFFIXES =
      List.of("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3");

  public HttpAnswer handle(S3Request.CreateBucket request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    requireValidName(request.bucket());
    byte[] document = BodyIngest.document(body);
    if (document.length > 0) {
      requireThisRegion(XmlReader.read(document, "CreateBucketConfiguration"));
    }
    CreateBucket.Builder create =
        CreateBucket.newBuilder()
            .setName(request.bucket())
            .setOwner(permit.caller().canonicalId())
            .setRegion(backend.config().region())
            .setLock(request.lock());
    addDocuments(create, request, permit);
    CommandResult result = backend.metadata().submit(Command.newBuilder().setCreateBucket(create));
    if (result.getCode() == ResultCode.LIMIT_EXCEEDED) {
      throw new S3Exception(S3Error.TOO_MANY_BUCKETS);
    }
    // The oldest region still answers a repeated creation by the owner as if it were the first.
    boolean isRepeat =
        result.getCode() == ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
            && backend.config().region().equals(S3Config.CLASSIC_REGION);
    if (isRepeat) {
      requireSameAcl(create);
    } else {
      ErrorMapping.requireOk(result);
    }
    if (isRepeat || request.lock() || create.getDocumentsCount() > 0) {
      requireAsAsked(create, isRepeat);
    }
    HttpHeaders headers = Answers.headers().set("Location", "/" + request.bucket());
    return Answers.empty(200, headers);
  }

  /** Refuses a repetition with another lock, and what metadata of an older version has ignored. */
  private void requireAsAsked(CreateBucket.Builder create, boolean isRepeat)
      throws S3Exception, MetadataUnavailableException {
    Optional<BucketRow> bucket =
        backend
            .metadata()
            .bucket(create.getName())
            .filter(row -> row.getOwner().equals(create.getOwner()));
    if (bucket.isEmpty()) {
      return; // deleted meanwhile, and perhaps created by somebody else
    }
    boolean hasLock = bucket.get().getHasLock() == create.getLock();
    if (isRepeat && !hasLock) {
      throw new S3Exception(S3Error.BUCKET_ALREADY_OWNED_BY_YOU);
    }
    boolean hasDocuments =
        create.getDocumentsList().stream()
            .allMatch(document -> (bucket.get().getDocuments() & 1 << document.getKind()) != 0);
    if (isRepeat || (hasLock && hasDocuments)) {
      return;
    }
    backend.submit(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName(create.getName())));
    throw new S3Exception(
        S3Error.SERVICE_UNAVAILABLE,
        "Locks, ACLs and ownership of new buckets are available when all metadata is upgraded.");
  }

  /** What the request and the server's configuration say about access. */
  private void addDocuments(
      CreateBucket.Builder create, S3Request.CreateBucket request, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    boolean isClosed = backend.config().newBuckets() == NewBuckets.ENFORCED;
    ObjectOwnership ownership =
        request.ownership() == null && isClosed
            ? ObjectOwnership.BUCKET_OWNER_ENFORCED
            : request.ownership();
    String owner = create.getOwner();
    Acl acl = Acls.ofNew(backend, permit).ofBucket(request.acl(), owner);
    if (ownership == ObjectOwnership.BUCKET_OWNER_ENFORCED && acl.grantsToOthers(owner)) {
      throw new S3Exception(S3Error.INVALID_BUCKET_ACL_WITH_OBJECT_OWNERSHIP);
    }
    if (isClosed && acl.isPublic()) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    if (ownership != null) {
      add(create, AccessDocument.OWNERSHIP, AccessDocuments.of(ownership));
    }
    if (isClosed) {
      add(create, AccessDocument.PUBLIC_ACCESS_BLOCK, AccessDocuments.of(PublicAccessBlock.ALL));
    }
    if (!acl.equals(Acl.privateOf(owner))) {
      add(create, AccessDocument.ACL, acl.toDocument());
    }
  }

  /** The bucket that is there keeps its ACL, so that another one cannot be asked for. */
  private void requireSameAcl(CreateBucket.Builder create)
      throws S3Exception, MetadataUnavailableException {
    int kind = AccessDocument.ACL.number();
    ByteString present =
        backend
            .metadata()
            .documents(create.getName(), List.of(kind))
            .getOrDefault(kind, ByteString.EMPTY);
    ByteString wanted =
        create.getDocumentsList().stream()
            .filter(document -> document.getKind() == kind)
            .map(CreateBucket.Document::getDocument)
            .findFirst()
            .orElse(ByteString.EMPTY);
    String owner = create.getOwner();
    if (!Acl.ofDocument(present, owner).equals(Acl.ofDocument(wanted, owner))) {
      throw new S3Exception(S3Error.BUCKET_ALREADY_EXISTS);
    }
  }

  private static void add(CreateBucket.Builder create, AccessDocument kind, ByteString content) {
    create.addDocuments(
        CreateBucket.Document.newBuilder().setKind(kind.number()).setDocument(content));
  }

  private void requireThisRegion(Element configuration) throws S3Exception {
    if (configuration.child("Location") != null || configuration.child("Bucket") != null) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED, "Directory buckets are not implemented.");
    }
    if (configuration.child("Tags") != null) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED, "Tags of new buckets are not implemented.");
    }
    String constraint = configuration.childText("LocationConstraint");
    if (constraint != null
        && !constraint.isEmpty()
        && !backend.config().acceptsAnyRegion()
        && !constraint.equals(backend.config().region())) {
      throw new S3Exception(S3Error.INVALID_LOCATION_CONSTRAINT)
          .with("LocationConstraint", constraint);
    }
  }

  /** "General purpose bucket naming rules", Amazon S3 User Guide. */
  private static void requireValidName(String name) throws S3Exception {
    boolean isValid =
        name.length() >= 3
            && name.length() <= 63
            && CHARACTERS.matcher(name).matches()
            && !IP_ADDRESS.matcher(name).matches()
            && RESERVED_PREFIXES.stream().noneMatch(name::startsWith)
            && RESERVED_SUFFIXES.stream().noneMatch(name::endsWith);
    if (!isValid) {
      throw new S3Exception(S3Error.INVALID_BUCKET_NAME).with("BucketName", name);
    }
  }
}
