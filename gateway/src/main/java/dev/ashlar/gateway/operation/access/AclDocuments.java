package dev.ashlar.gateway.operation.access;

import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.AclRequest.Form;
import dev.ashlar.gateway.access.acl.AclRequest.Written;
import dev.ashlar.gateway.access.acl.Grantee;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads AccessControlPolicy documents, and reads and writes the grants of documents. */
public final class AclDocuments {
  private AclDocuments() {}

  /**
   * @param owner who owns the bucket or object, which the document cannot change
   * @throws S3Exception MalformedACLError; AccessDenied if it names another owner
   */
  static AclRequest read(byte[] document, String owner) throws S3Exception {
    Element root = root(document);
    Element list = root.child("AccessControlList");
    Element named = root.child("Owner");
    String id = named == null ? null : named.childText("ID");
    if (list == null || id == null) {
      throw malformed();
    }
    if (!id.strip().equals(owner)) {
      throw new S3Exception(S3Error.ACCESS_DENIED);
    }
    return grants(list);
  }

  /**
   * @param list of elements Grant
   * @throws S3Exception MalformedACLError
   */
  public static AclRequest.Grants grants(Element list) throws S3Exception {
    if (list.children().size() > Acl.GRANTS_MAX) {
      throw malformed();
    }
    List<Written> grants = new ArrayList<>();
    for (Element grant : list.children()) {
      if (!grant.name().equals("Grant")) {
        throw malformed();
      }
      grants.add(grant(grant.child("Grantee"), grant.childText("Permission")));
    }
    return new AclRequest.Grants(grants);
  }

  /** Writes elements Grant. */
  public static void write(XmlWriter xml, List<Acl.Grant> grants, DisplayNames names)
      throws MetadataUnavailableException {
    for (Acl.Grant grant : grants) {
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
  }

  private static Element root(byte[] document) throws S3Exception {
    try {
      return XmlReader.read(document, "AccessControlPolicy");
    } catch (S3Exception e) {
      throw malformed();
    }
  }

  /** What a grantee contains says of which kind it is, as xsi:type does. */
  private static Written grant(@Nullable Element grantee, @Nullable String permission)
      throws S3Exception {
    if (grantee == null || permission == null) {
      throw malformed();
    }
    AclPermission granted = permission(permission.strip());
    for (Element child : grantee.children()) {
      Form form =
          switch (child.name()) {
            case "ID" -> Form.CANONICAL_ID;
            case "EmailAddress" -> Form.EMAIL;
            case "URI" -> Form.GROUP_URI;
            default -> null;
          };
      if (form != null) {
        return new Written(form, child.text().strip(), granted);
      }
    }
    throw malformed();
  }

  private static AclPermission permission(String name) throws S3Exception {
    for (AclPermission permission : AclPermission.values()) {
      if (permission.name().equals(name)) {
        return permission;
      }
    }
    throw malformed();
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_ACL_ERROR);
  }
}
