package dev.ashlar.gateway.access;

import dev.ashlar.protocol.message.VersionRef;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The actions of S3's permission model that have another name where the request names a version.
 */
public final class VersionActions {
  private static final Map<String, String> TWINS =
      Map.of(
          "s3:DeleteObject", "s3:DeleteObjectVersion",
          "s3:DeleteObjectTagging", "s3:DeleteObjectVersionTagging",
          "s3:GetObject", "s3:GetObjectVersion",
          "s3:GetObjectAcl", "s3:GetObjectVersionAcl",
          "s3:GetObjectAttributes", "s3:GetObjectVersionAttributes",
          "s3:GetObjectTagging", "s3:GetObjectVersionTagging",
          "s3:PutObjectAcl", "s3:PutObjectVersionAcl",
          "s3:PutObjectTagging", "s3:PutObjectVersionTagging");

  private VersionActions() {}

  /**
   * What an action is called for a version.
   *
   * @param version that the request names; null: none
   */
  public static String of(String action, @Nullable VersionRef version) {
    return version == null ? action : TWINS.getOrDefault(action, action);
  }

  /** Likewise, of several actions. */
  public static List<String> of(List<String> actions, @Nullable VersionRef version) {
    return version == null ? actions : actions.stream().map(action -> of(action, version)).toList();
  }
}
