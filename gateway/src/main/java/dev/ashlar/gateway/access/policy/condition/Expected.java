package dev.ashlar.gateway.access.policy.condition;

import dev.ashlar.gateway.access.policy.condition.Operator.Order;
import dev.ashlar.gateway.access.policy.value.ArnPattern;
import dev.ashlar.gateway.access.policy.value.CodePoints;
import dev.ashlar.gateway.access.policy.value.RequestValues;
import dev.ashlar.gateway.access.policy.value.Template;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;

/**
 * A value that a policy compares a value of the request with. A value of the request that is not of
 * the kind that is compared, such as a text instead of a number, does not match.
 */
sealed interface Expected {
  boolean matches(CodePoints value, RequestValues request);

  record Text(Template template) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return template.isEqual(value, request);
    }
  }

  record TextIgnoringCase(Template template) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return template.isEqualIgnoringCase(value, request);
    }
  }

  record TextPattern(Template template) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return template.matches(value, request);
    }
  }

  record Arn(ArnPattern pattern) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return pattern.matches(value, request);
    }
  }

  record Numeric(BigDecimal limit, Order order) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return Numbers.parse(value.text()).filter(number -> order.holds(number, limit)).isPresent();
    }
  }

  record Date(Instant limit, Order order) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return Dates.parse(value.text()).filter(date -> order.holds(date, limit)).isPresent();
    }
  }

  record Bool(boolean expected) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return value.text().equalsIgnoreCase(Boolean.toString(expected));
    }
  }

  /** Values of the request are in Base64, too: they are texts. */
  record Binary(byte[] expected) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return Binaries.parse(value.text())
          .filter(bytes -> Arrays.equals(bytes, expected))
          .isPresent();
    }
  }

  record IpRange(IpAddressRange range) implements Expected {
    @Override
    public boolean matches(CodePoints value, RequestValues request) {
      return IpAddressRange.parseAddress(value.text()).filter(range::contains).isPresent();
    }
  }
}
