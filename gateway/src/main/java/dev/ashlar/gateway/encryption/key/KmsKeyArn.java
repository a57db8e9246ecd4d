package dev.ashlar.gateway.encryption.key;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The ARNs by which clients and policies may call KMS keys, instead of by their ids. */
public final class KmsKeyArn {
  /** Region and account tell nothing here. In policies they can be wildcards and variables. */
  private static final Pattern ARN = Pattern.compile("arn:aws[^:]*:kms:.*?:key/(.+)");

  private KmsKeyArn() {}

  /** The id at the end of an ARN, else the text itself. */
  public static String id(String text) {
    Matcher arn = ARN.matcher(text);
    return arn.matches() ? arn.group(1) : text;
  }
}
