package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.util.List;

/** "General purpose bucket naming rules", Amazon S3 User Guide. */
final class BucketNames {
  private static final List<String> RESERVED_PREFIXES = List.of("xn--", "sthree-", "amzn-s3-demo-");
  private static final List<String> RESERVED_SUFFIXES =
      List.of("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3");

  private BucketNames() {}

  static void requireValid(String name) throws S3Exception {
    boolean isValid =
        name.length() >= 3
            && name.length() <= 63
            && hasValidCharacters(name)
            && !isIpAddress(name)
            && RESERVED_PREFIXES.stream().noneMatch(name::startsWith)
            && RESERVED_SUFFIXES.stream().noneMatch(name::endsWith);
    if (!isValid) {
      throw new S3Exception(S3Error.INVALID_BUCKET_NAME).with("BucketName", name);
    }
  }

  /** Lower-case letters, digits, hyphens and single dots, a letter or digit at both ends. */
  private static boolean hasValidCharacters(String name) {
    char before = '.';
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean isAlphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      boolean isSeparator = c == '-' || c == '.';
      if (!isAlphanumeric && !isSeparator) {
        return false;
      }
      if ((c == '.' && before == '.') || (i == 0 && isSeparator)) {
        return false;
      }
      before = c;
    }
    return before != '.' && before != '-';
  }

  private static boolean isIpAddress(String name) {
    int dots = 0;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c == '.') {
        dots++;
      } else if (c < '0' || c > '9') {
        return false;
      }
    }
    return dots == 3;
  }
}
