package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.document.Element;
import dev.ashlar.gateway.access.policy.document.Element.Scalar;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.access.policy.value.ArnPattern;
import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.RequestValues;
import dev.ashlar.gateway.access.policy.value.Template;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Resource or NotResource element of a statement. */
final class Resources {
  static final String S3_ARN_PREFIX = "arn:aws:s3:::";

  /** Partition, service, region, account, resource. Variables are allowed in the last one only. */
  private static final Pattern ARN =
      Pattern.compile(
          "arn:aws:([a-z0-9-]{1,64}+):([a-z0-9*?-]{0,64}+):([0-9]{12}|[0-9*?]{1,12}+|):(.+)",
          Pattern.DOTALL);

  private sealed interface Target {
    boolean matches(CodePoints resource, RequestValues values);

    /** Everything, or buckets and objects: what is before the name of the bucket is constant. */
    record Text(Template template) implements Target {
      @Override
      public boolean matches(CodePoints resource, RequestValues values) {
        return template.matches(resource, values);
      }
    }

    record Arn(ArnPattern pattern) implements Target {
      @Override
      public boolean matches(CodePoints resource, RequestValues values) {
        return pattern.matches(resource, values);
      }
    }
  }

  private final boolean isNegated;
  private final List<Target> targets;

  private Resources(boolean isNegated, List<Target> targets) {
    this.isNegated = isNegated;
    this.targets = targets;
  }

  static Resources parse(Element element, boolean isNegated, PolicyKind kind, boolean hasVariables)
      throws MalformedPolicyException {
    List<Target> targets = new ArrayList<>();
    for (Scalar value : element.strings()) {
      targets.add(parse(value, kind, hasVariables));
    }
    return new Resources(isNegated, targets);
  }

  private static Target parse(Scalar value, PolicyKind kind, boolean hasVariables)
      throws MalformedPolicyException {
    if (value.text().equals("*")) {
      return new Target.Text(Template.of(value, false, true));
    }
    Matcher arn = ARN.matcher(value.text());
    if (!arn.matches()) {
      throw value.malformedValue("is neither * nor an ARN of the partition aws");
    }
    boolean isS3 = arn.group(1).equals("s3");
    if (isS3 && !(arn.group(2).isEmpty() && arn.group(3).isEmpty())) {
      throw value.malformedValue("has a region or an account, which ARNs of S3 do not have");
    }
    if (kind instanceof PolicyKind.Bucket bucket
        && !(isS3 && BucketCoverage.covers(arn.group(4), bucket.bucket()))) {
      throw value.malformedValue("is neither this bucket nor an object of it");
    }
    return isS3
        ? new Target.Text(Template.of(value, hasVariables, true))
        : new Target.Arn(ArnPattern.of(value, hasVariables));
  }

  boolean covers(CodePoints resource, RequestValues values) {
    return isNegated != matchesAny(resource, values);
  }

  private boolean matchesAny(CodePoints resource, RequestValues values) {
    for (Target target : targets) {
      if (target.matches(resource, values)) {
        return true;
      }
    }
    return false;
  }
}
