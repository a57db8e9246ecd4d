package dev.ashlar.gateway.iam;

import dev.ashlar.gateway.principal.Arns;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.IdentityRow;
import dev.ashlar.protocol.message.IdentityTag;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Writes identities as IAM's documents show them. */
final class Rows {
  private Rows() {}

  /**
   * @param element User, Group, Role, Policy, or member in a list
   */
  static void write(XmlWriter out, String element, IdentityRow row) {
    out.open(element);
    switch (Entity.of(row.getKind())) {
      case USER -> named(out, Entity.USER, row);
      case GROUP -> named(out, Entity.GROUP, row);
      case ROLE -> {
        named(out, Entity.ROLE, row);
        out.element("AssumeRolePolicyDocument", document(row.getTrustPolicy()));
        if (!row.getDescription().isEmpty()) {
          out.element("Description", row.getDescription());
        }
        out.element("MaxSessionDuration", row.getMaxSessionSeconds());
      }
      case POLICY -> policy(out, row);
      case PROVIDER -> throw new IllegalArgumentException("providers have documents of their own");
    }
    tags(out, row.getTagsList());
    out.close();
  }

  private static void named(XmlWriter out, Entity entity, IdentityRow row) {
    out.element("Path", row.getPath())
        .element(entity.nameParameter(), row.getName())
        .element(entity.title() + "Id", row.getId())
        .element("Arn", Arns.of(row))
        .element("CreateDate", time(row.getCreatedAtMs()));
  }

  private static void policy(XmlWriter out, IdentityRow row) {
    out.element("PolicyName", row.getName())
        .element("PolicyId", row.getId())
        .element("Arn", Arns.of(row))
        .element("Path", row.getPath())
        .element("DefaultVersionId", row.getDefaultVersion())
        .element("AttachmentCount", row.getAttachments())
        .element("PermissionsBoundaryUsageCount", 0)
        .element("IsAttachable", true);
    if (!row.getDescription().isEmpty()) {
      out.element("Description", row.getDescription());
    }
    out.element("CreateDate", time(row.getCreatedAtMs()))
        .element("UpdateDate", time(row.getChangedAtMs()));
  }

  /** Writes nothing if there are none. */
  static void tags(XmlWriter out, List<IdentityTag> tags) {
    if (tags.isEmpty()) {
      return;
    }
    out.open("Tags");
    for (IdentityTag tag : tags) {
      out.open("member").element("Key", tag.getKey()).element("Value", tag.getValue()).close();
    }
    out.close();
  }

  /** To seconds, as AWS shows times. */
  static String time(long ms) {
    return Instant.ofEpochMilli(ms).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** Documents are percent-encoded in answers. */
  static String document(String json) {
    return Percent.encode(json);
  }
}
