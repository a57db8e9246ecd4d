package dev.ashlar.gateway.operation.access;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.Need;
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
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.FactChanges;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
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
    AclDocuments.write(xml, groupsFirst(acl), names);
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
    byte[] document = BodyIngest.document(body);
    if (request.acl().isGiven() && document.length > 0) {
      throw S3Exception.invalidRequest(
          "Specifying both an ACL document and headers is not allowed.");
    }
    Need need = request.needs();
    if (need.resource() instanceof Need.Resource.StoredObject object) {
      ErrorMapping.requireOk(
          new FactChanges(backend)
              .set(
                  object,
                  permit,
                  permit.caller(),
                  need,
                  (command, decided) -> command.setAcl(ofObject(request, decided, document))));
    } else {
      new DocumentChanges(backend)
          .put(permit, need, AccessDocument.ACL, decided -> ofBucket(request, decided, document));
    }
    return Answers.empty(200);
  }

  private static void requireAcls(Permit permit) throws S3Exception {
    if (permit.config().ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
      throw new S3Exception(S3Error.ACCESS_CONTROL_LIST_NOT_SUPPORTED);
    }
  }

  private static AclRequest wanted(S3Request.PutAcl request, String owner, byte[] document)
      throws S3Exception {
    return request.acl().isGiven() ? request.acl() : AclDocuments.read(document, owner);
  }

  private ByteString ofBucket(S3Request.PutAcl request, Permit permit, byte[] document)
      throws S3Exception, MetadataUnavailableException {
    requireAcls(permit);
    String owner = owner(true, permit);
    return Acls.in(backend, permit).ofBucket(wanted(request, owner, document), owner).toDocument();
  }

  /** As it is stored for the version on which was decided; empty: private. */
  private ByteString ofObject(S3Request.PutAcl request, Permit permit, byte[] document)
      throws S3Exception, MetadataUnavailableException {
    requireAcls(permit);
    String owner = owner(false, permit);
    Acl acl = Acls.in(backend, permit).ofObject(wanted(request, owner, document), owner);
    return acl.equals(Acl.privateOf(owner)) ? ByteString.EMPTY : acl.toDocument();
  }
}
