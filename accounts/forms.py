from typing import ClassVar

from django import forms

from accounts.models import ApiToken


class TokenForm(forms.ModelForm[ApiToken]):
    class Meta:
        model = ApiToken
        fields: ClassVar = ["name"]
        labels: ClassVar = {"name": "What is it for?"}
