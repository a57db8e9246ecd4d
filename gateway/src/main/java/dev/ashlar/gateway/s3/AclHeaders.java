package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.acl.AclRequest.Form;
import dev.ashlar.gateway.access.acl.AclRequest.Written;
import dev.ashlar.gateway.access.acl.CannedAcl;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads x-amz-acl and the x-amz-grant- headers. */
final class AclHeaders {
  static final String CANNED = "x-amz-acl";
  static final String GRANT = "x-amz-grant-";
  private static final AsciiString CANNED_NAME = AsciiString.cached(CANNED);

  /** In the order in which grants are listed. */
  private static final Map<AsciiString, AclPermission> PERMISSIONS = permissions();

  /**
   * One grantee: type="value", where the quotes may be absent, and what separates it. It does not
   * go back, so that a long header takes no time in proportion to the square of its length.
   */
  private static final Pattern GRANTEE =
      Pattern.compile(
          "\\s*+([A-Za-z]{1,32}+)\\s*+=\\s*+(?:\"([^\"]*+)\"|([^\",\\s]*+))\\s*+(?:,|$)");

  private AclHeaders() {}

  private static Map<AsciiString, AclPermission> permissions() {
    Map<AsciiString, AclPermission> byHeader = new LinkedHashMap<>();
    for (AclPermission permission : AclPermission.values()) {
      String name = permission.name().toLowerCase(Locale.ROOT).replace('_', '-');
      byHeader.put(AsciiString.cached(GRANT + name), permission);
    }
    return byHeader;
  }

  static boolean isGrant(String name) {
    return PERMISSIONS.containsKey(AsciiString.of(name));
  }

  static AclRequest parse(HttpHeaders headers) throws S3Exception {
    String canned = headers.get(CANNED_NAME);
    List<Written> grants = new ArrayList<>();
    for (Map.Entry<AsciiString, AclPermission> permission : PERMISSIONS.entrySet()) {
      for (String value : headers.getAll(permission.getKey())) {
        add(grants, permission.getKey().toString(), value, permission.getValue());
      }
    }
    if (headers.getAll(CANNED_NAME).size() > 1) {
      throw S3Exception.invalidArgument("", CANNED, String.join(",", headers.getAll(CANNED_NAME)));
    }
    if (canned == null) {
      return grants.isEmpty() ? AclRequest.none() : new AclRequest.Grants(grants);
    }
    if (!grants.isEmpty()) {
      throw S3Exception.invalidRequest(
          "Specifying both Canned ACLs and Header Grants is not allowed");
    }
    return new AclRequest.Canned(
        CannedAcl.named(canned.trim())
            .orElseThrow(() -> S3Exception.invalidArgument("", CANNED, canned)));
  }

  private static void add(
      List<Written> grants, String header, String value, AclPermission permission)
      throws S3Exception {
    Matcher grantee = GRANTEE.matcher(value);
    int end = 0;
    while (end < value.length()) {
      if (!grantee.region(end, value.length()).lookingAt()) {
        throw S3Exception.invalidArgument("Argument format not recognized", header, value);
      }
      end = grantee.end();
      String name = grantee.group(2) == null ? grantee.group(3) : grantee.group(2);
      grants.add(new Written(form(header, value, grantee.group(1)), name, permission));
    }
  }

  private static Form form(String header, String value, String type) throws S3Exception {
    return switch (type.toLowerCase(Locale.ROOT)) {
      case "id" -> Form.CANONICAL_ID;
      case "emailaddress" -> Form.EMAIL;
      case "uri" -> Form.GROUP_URI;
      default -> throw S3Exception.invalidArgument("Argument format not recognized", header, value);
    };
  }
}
