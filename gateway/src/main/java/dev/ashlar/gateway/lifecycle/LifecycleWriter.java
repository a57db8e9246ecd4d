package dev.ashlar.gateway.lifecycle;

import dev.ashlar.gateway.xml.XmlWriter;
import java.time.Instant;
import java.util.List;

/** Writes rules as S3 answers them, in the form in which they were given. */
final class LifecycleWriter {
  private final XmlWriter xml = new XmlWriter();

  private LifecycleWriter() {}

  static byte[] write(List<LifecycleRule> rules) {
    LifecycleWriter writer = new LifecycleWriter();
    writer.xml.openRoot("LifecycleConfiguration");
    rules.forEach(writer::write);
    return writer.xml.close().toBytes();
  }

  private void write(LifecycleRule rule) {
    xml.open("Rule").element("ID", rule.id());
    write(rule.filter());
    xml.element("Status", rule.isEnabled() ? "Enabled" : "Disabled");
    LifecycleRule.Expiration expiration = rule.expiration();
    if (expiration != null) {
      xml.open("Expiration");
      When when = expiration.when();
      if (when == null) {
        xml.element("ExpiredObjectDeleteMarker", expiration.removesMarkers());
      } else {
        write(when);
      }
      xml.close();
    }
    for (LifecycleRule.Transition transition : rule.transitions()) {
      xml.open("Transition");
      write(transition.when());
      xml.element("StorageClass", transition.storageClass()).close();
    }
    LifecycleRule.NoncurrentExpiration noncurrent = rule.noncurrentExpiration();
    if (noncurrent != null) {
      xml.open("NoncurrentVersionExpiration");
      write(noncurrent.days(), noncurrent.newerKept());
      xml.close();
    }
    for (LifecycleRule.NoncurrentTransition transition : rule.noncurrentTransitions()) {
      xml.open("NoncurrentVersionTransition");
      write(transition.days(), transition.newerKept());
      xml.element("StorageClass", transition.storageClass()).close();
    }
    if (rule.abortDays() > 0) {
      xml.open("AbortIncompleteMultipartUpload")
          .element("DaysAfterInitiation", rule.abortDays())
          .close();
    }
    xml.close();
  }

  private void write(When when) {
    switch (when) {
      case When.Days(int days) -> xml.element("Days", days);
      // With the milliseconds that S3 writes; the time is a midnight.
      case When.Date(long timeMs) ->
          xml.element("Date", Instant.ofEpochMilli(timeMs).toString().replace("Z", ".000Z"));
    }
  }

  private void write(int noncurrentDays, int newerKept) {
    xml.element("NoncurrentDays", noncurrentDays);
    if (newerKept > 0) {
      xml.element("NewerNoncurrentVersions", newerKept);
    }
  }

  private void write(LifecycleFilter filter) {
    if (filter.isOldForm()) {
      xml.optional("Prefix", filter.prefix());
      return;
    }
    xml.open("Filter");
    boolean isAnd = filter.conditions() > 1;
    if (isAnd) {
      xml.open("And");
    }
    xml.optional("Prefix", filter.prefix());
    filter
        .tags()
        .forEach(
            tag ->
                xml.open("Tag")
                    .element("Key", tag.getKey())
                    .element("Value", tag.getValue())
                    .close());
    if (filter.sizeAbove() >= 0) {
      xml.element("ObjectSizeGreaterThan", filter.sizeAbove());
    }
    if (filter.sizeBelow() >= 0) {
      xml.element("ObjectSizeLessThan", filter.sizeBelow());
    }
    if (isAnd) {
      xml.close();
    }
    xml.close();
  }
}
