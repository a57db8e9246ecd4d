package dev.ashlar.gateway.operation.access;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.Grantee;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Acls;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.VersionRef;
import java.util.Comparator;
import java.util.List;

/** GetBucketAcl, GetObjectAcl, PutBucketAcl and PutObjectAcl. */
public record AclHandler(Backend backend) {
  public HttpAnswer handle(S3Request.GetAcl request, Permit permit)
      throws MetadataUnavailableException {
    BucketConfig bucket = permit.config();
    boolean isEnforced = bucket.ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED;
    String owner = owner(request.key() == null, permit);
    Acl acl =
        isEnforced
            ? Acl.privateOf(owner)
            : request.key() == null
                ? bucket.acl()
                : Acl.ofDocument(permit.object().object().getFacts().getAcl(), owner);
    return Answers.xml(document(owner, acl, new DisplayNames(backend, permit.caller())));
  }

  /** Where the owner of the bucket owns everything, those of the objects do not count. */
  private static String owner(boolean isOfBucket, Permit permit) {
    boolean isEnforced =
        permit.config().ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED;
    return isOfBucket || isEnforced
        ? permit.bucket().getOwner()
        : permit.object().object().getSummary().getOwner();
  }

  private static XmlWriter document(String owner, Acl acl, DisplayNames names)
      throws MetadataUnavailableException {
    XmlWriter xml = new XmlWriter().openRoot("AccessControlPolicy");
    xml.person("Owner", owner, names.of(owner)).open("AccessControlList");
    for (Acl.Grant grant : groupsFirst(acl)) {
      xml.open("Grant");
      switch (grant.grantee()) {
        case Grantee.Account account ->
            xml.openTyped("Grantee", "CanonicalUser")
                .element("ID", account.canonicalId())
                .element("DisplayName", names.of(account.canonicalId()))
                .close();
        case Grantee.Group group ->
            xml.openTyped("Grantee", "Group").element("URI", group.uri()).close();
      }
      xml.element("Permission", grant.permission().name()).close();
    }
    return xml.close().close();
  }

  /** As Ceph lists them: clients of both know both orders. */
  private static List<Acl.Grant> groupsFirst(Acl acl) {
    return acl.grants().stream()
        .sorted(Comparator.comparing(grant -> grant.grantee() instanceof Grantee.Account))
        .toList();
  }

  public HttpAnswer handle(S3Request.PutAcl request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    if (permit.config().ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
      throw new S3Exception(S3Error.ACCESS_CONTROL_LIST_NOT_SUPPORTED);
    }
    String owner = owner(request.key() == null, permit);
    AclRequest wanted =
        request.acl().isGiven()
            ? request.acl()
            : AclDocuments.read(BodyIngest.document(body), owner);
    Acls acls = Acls.in(backend, permit);
    String key = request.key();
    backend.submit(
        key == null
            ? ofBucket(request.bucket(), acls.ofBucket(wanted, owner))
            : ofObject(request, key, permit.object().object(), acls.ofObject(wanted, owner)));
    return Answers.empty(200);
  }

  private static Command.Builder ofBucket(String bucket, Acl acl) {
    return Command.newBuilder()
        .setPutBucketDocument(
            PutBucketDocument.newBuilder()
                .setBucket(bucket)
                .setKind(AccessDocument.ACL.number())
                .setDocument(acl.toDocument()));
  }

  /** Of the version on which it was decided. */
  private static Command.Builder ofObject(
      S3Request.PutAcl request, String key, ObjectRecord object, Acl acl) {
    boolean isPrivate = acl.equals(Acl.privateOf(object.getSummary().getOwner()));
    SetObjectFacts.Builder change =
        SetObjectFacts.newBuilder()
            .setBucket(request.bucket())
            .setKey(key)
            .setExpectedVersion(object.getVersion())
            .setAcl(isPrivate ? ByteString.EMPTY : acl.toDocument());
    VersionRef named = request.version();
    if (named != null) {
      change.setVersion(named);
    } else if (object.getVersioned()) {
      change.setVersion(VersionRef.newBuilder().setNumber(object.getVersion()));
    }
    return Command.newBuilder().setSetObjectFacts(change);
  }
}
