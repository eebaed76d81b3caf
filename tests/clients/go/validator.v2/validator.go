// Package validator does what generated clients need of gopkg.in/validator.v2: it checks `validate:"regexp=…"`.
//
// Neither PyPI nor npm nor Debian has the version that go.mod names. Debian's is of 2016: it knows no pattern with a
// comma, and takes a text that is left out for an error.
package validator

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
)

var compiled sync.Map

// Validate returns an error if a field of the struct, or of a struct in it, does not match its pattern.
func Validate(value any) error {
	return check(reflect.ValueOf(value))
}

func check(value reflect.Value) error {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		return check(value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			if err := check(value.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			if err := match(value.Field(i), field); err != nil {
				return err
			}
			if err := check(value.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func match(value reflect.Value, field reflect.StructField) error {
	pattern, found := strings.CutPrefix(field.Tag.Get("validate"), "regexp=")
	if !found {
		return nil
	}
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return nil
		}
		value = value.Elem()
	}
	if value.Kind() != reflect.String {
		return fmt.Errorf("%s: a pattern for a value that is no text", field.Name)
	}
	pattern = strings.ReplaceAll(pattern, `\,`, ",")
	expression, found := compiled.Load(pattern)
	if !found {
		made, err := regexp.Compile(pattern)
		if err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
		expression, _ = compiled.LoadOrStore(pattern, made)
	}
	if !expression.(*regexp.Regexp).MatchString(value.String()) {
		return fmt.Errorf("%s: %q does not match %s", field.Name, value, pattern)
	}
	return nil
}
